import { action } from '../runner/action.js';
import { beginDeletion, endServer, failDeletion } from './end-server.js';

/** Deletes a server and the resources that were created for it. */
export const deleteServer = action({
  name: 'delete',
  taskStates: 'any',
  lock: true,
  neverLaunched: true,
  during: ['deleting'],
  history: 'delete',
  notifies: 'delete',
  onFailure: 'error',
  begin: beginDeletion,
  run: endServer,
  fail: failDeletion,
});
