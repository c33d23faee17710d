import { badRequest } from '../../errors/rejection.js';
import { concurrentAction } from '../runner/action.js';

/** Makes the guest crash and write a dump of its memory. */
export const triggerCrashDump = concurrentAction({
  name: 'trigger_crash_dump',
  vmStates: ['active', 'paused', 'rescued', 'resized', 'error'],
  needs: 'crash_dump',
  unsupported: () => badRequest('Triggering a crash dump is not supported by this driver.'),
  lock: true,
  history: 'trigger_crash_dump',
  notifies: 'trigger_crash_dump',
  run: async (run) => {
    await run.perform({ verb: 'crash_dump' }, undefined, 'compute_trigger_crash_dump');
    await run.finish({});
  },
});
