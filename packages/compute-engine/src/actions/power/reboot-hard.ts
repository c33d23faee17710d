import { machineAction } from './machine-action.js';

/** Reboots a server by resetting its machine, without the guest's cooperation. */
export const rebootHard = machineAction({
  name: 'rebootHard',
  vmStates: ['active', 'stopped', 'paused', 'suspended', 'error'],
  taskStates: [
    null,
    'rebooting',
    'reboot_pending',
    'reboot_started',
    'rebooting_hard',
    'resuming',
    'unpausing',
    'pausing',
    'suspending',
  ],
  lock: true,
  during: ['rebooting_hard', 'reboot_pending_hard', 'reboot_started_hard'],
  history: 'reboot',
  notifies: 'reboot',
  nameInMessages: 'reboot',
  onFailure: 'error',
  work: { verb: 'reboot', type: 'HARD' },
  event: 'compute_reboot_instance',
  vmState: 'active',
  powerState: 1,
});
