import { machineAction } from '../power/machine-action.js';

/** Boots a rescued server from its own disk again. */
export const unrescue = machineAction({
  name: 'unrescue',
  vmStates: ['rescued'],
  needs: 'unrescue',
  lock: true,
  during: ['unrescuing'],
  history: 'unrescue',
  notifies: 'unrescue',
  onFailure: 'error',
  work: { verb: 'unrescue' },
  event: 'compute_unrescue_instance',
  vmState: 'active',
  powerState: 1,
});
