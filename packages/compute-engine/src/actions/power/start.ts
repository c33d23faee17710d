import { machineAction } from './machine-action.js';

/** Starts a stopped server. */
export const start = machineAction({
  name: 'os-start',
  vmStates: ['stopped'],
  lock: true,
  during: ['powering-on'],
  history: 'start',
  notifies: 'power_on',
  nameInMessages: 'start',
  onFailure: 'unchanged',
  work: { verb: 'power_on' },
  event: 'compute_start_instance',
  vmState: 'active',
  powerState: 1,
});
