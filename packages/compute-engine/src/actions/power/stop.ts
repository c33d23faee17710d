import { machineAction } from './machine-action.js';

/** Stops a server. */
export const stop = machineAction({
  name: 'os-stop',
  vmStates: ['active', 'error'],
  lock: true,
  during: ['powering-off'],
  history: 'stop',
  notifies: 'power_off',
  nameInMessages: 'stop',
  onFailure: 'unchanged',
  work: { verb: 'power_off' },
  event: 'compute_stop_instance',
  vmState: 'stopped',
  powerState: 4,
});
