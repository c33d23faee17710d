import { machineAction } from './machine-action.js';

/** Pauses a server and keeps its state in memory. */
export const pause = machineAction({
  name: 'pause',
  vmStates: ['active'],
  needs: 'pause',
  lock: true,
  during: ['pausing'],
  history: 'pause',
  notifies: 'pause',
  onFailure: 'unchanged',
  work: { verb: 'pause' },
  event: 'compute_pause_instance',
  vmState: 'paused',
  powerState: 3,
});
