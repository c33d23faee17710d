import { machineAction } from './machine-action.js';

/** Resumes a paused server. */
export const unpause = machineAction({
  name: 'unpause',
  vmStates: ['paused'],
  needs: 'unpause',
  lock: true,
  during: ['unpausing'],
  history: 'unpause',
  notifies: 'unpause',
  onFailure: 'unchanged',
  work: { verb: 'unpause' },
  event: 'compute_unpause_instance',
  vmState: 'active',
  powerState: 1,
});
