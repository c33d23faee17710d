import { machineAction } from './machine-action.js';

/** Puts a server to sleep, its memory kept on disk. */
export const suspend = machineAction({
  name: 'suspend',
  vm: ['active'],
  needs: 'suspend',
  lock: true,
  notWithShares: 'CONFLICT',
  during: ['suspending'],
  history: 'suspend',
  notifies: 'suspend',
  onFailure: 'error',
  work: { verb: 'suspend' },
  event: 'compute_suspend_instance',
  vmState: 'suspended',
  powerState: 7,
});
