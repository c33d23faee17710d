import { machineAction } from './machine-action.js';

/** Suspends a server to disk. */
export const suspend = machineAction({
  name: 'suspend',
  vmStates: ['active'],
  needs: 'suspend',
  lock: true,
  rejectionWithShares: 'CONFLICT',
  during: ['suspending'],
  history: 'suspend',
  notifies: 'suspend',
  onFailure: 'error',
  work: { verb: 'suspend' },
  event: 'compute_suspend_instance',
  vmState: 'suspended',
  powerState: 7,
});
