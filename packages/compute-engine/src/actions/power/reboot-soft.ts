import { machineAction } from './machine-action.js';

/** Reboots a server by requesting the reboot from its guest. */
export const rebootSoft = machineAction({
  name: 'rebootSoft',
  vmStates: ['active'],
  lock: true,
  during: ['rebooting', 'reboot_pending', 'reboot_started'],
  history: 'reboot',
  notifies: 'reboot',
  nameInMessages: 'reboot',
  onFailure: 'error',
  work: { verb: 'reboot', type: 'SOFT' },
  event: 'compute_reboot_instance',
  vmState: 'active',
  powerState: 1,
});
