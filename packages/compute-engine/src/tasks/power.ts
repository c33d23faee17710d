import type { DriverWork } from '../drivers/driver.js';
import { type ActionName, transitionOf } from '../lifecycle/transitions.js';
import type { PowerState, VmState } from '../model/index.js';
import type { Task } from './task.js';

interface Simple {
  readonly work: DriverWork;
  readonly event: string;
  readonly vmState: VmState;
  readonly powerState: PowerState;
}

/** Actions that are one order to the machine and one result. */
const simple = {
  'os-start': { work: { verb: 'power_on' }, event: 'compute_start_instance', vmState: 'active', powerState: 1 },
  'os-stop': { work: { verb: 'power_off' }, event: 'compute_stop_instance', vmState: 'stopped', powerState: 4 },
  rebootSoft: {
    work: { verb: 'reboot', type: 'SOFT' },
    event: 'compute_reboot_instance',
    vmState: 'active',
    powerState: 1,
  },
  rebootHard: {
    work: { verb: 'reboot', type: 'HARD' },
    event: 'compute_reboot_instance',
    vmState: 'active',
    powerState: 1,
  },
  pause: { work: { verb: 'pause' }, event: 'compute_pause_instance', vmState: 'paused', powerState: 3 },
  unpause: { work: { verb: 'unpause' }, event: 'compute_unpause_instance', vmState: 'active', powerState: 1 },
  suspend: { work: { verb: 'suspend' }, event: 'compute_suspend_instance', vmState: 'suspended', powerState: 7 },
  resume: { work: { verb: 'resume' }, event: 'compute_resume_instance', vmState: 'active', powerState: 1 },
  unrescue: { work: { verb: 'unrescue' }, event: 'compute_unrescue_instance', vmState: 'active', powerState: 1 },
  restore: { work: { verb: 'restore' }, event: 'compute_restore_instance', vmState: 'active', powerState: 1 },
} as const satisfies Partial<Record<ActionName, Simple>>;

/** One task per row of the table above. */
export const powerTasks: readonly Task[] = Object.entries(simple).map(
  ([name, { work, event, vmState, powerState }]) => {
    const action = name as ActionName;
    const during = transitionOf(action).during;
    return {
      action,
      run: async (run) => {
        await run.passThrough(during.slice(0, -1));
        await run.perform(work, during.at(-1), event);
        await run.finish({ vmState, powerState });
      },
    };
  },
);
