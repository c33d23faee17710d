import { action } from '../runner/action.js';
import { offload } from './offload.js';
import { deleteUnrecordedAttachments } from './reserve-volumes.js';

/** Removes a shelved server from its host before the configured offload time has elapsed. */
export const shelveOffload = action({
  name: 'shelveOffload',
  vmStates: ['shelved'],
  lock: true,
  during: ['shelving_offloading'],
  history: 'shelveOffload',
  notifies: { failed: 'shelve_offload' },
  onFailure: 'error',
  run: offload,
  cleanUpAfterTakeover: (run) => deleteUnrecordedAttachments(run),
});
