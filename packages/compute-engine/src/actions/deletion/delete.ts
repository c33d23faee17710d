import { action } from '../runner/action.js';
import { beginEnd, endServer, failEnd } from './end-server.js';

/** Removes a server and all that was made for it. */
export const deleteServer = action({
  name: 'delete',
  task: 'any',
  lock: true,
  neverLaunched: true,
  during: ['deleting'],
  history: 'delete',
  notifies: 'delete',
  onFailure: 'error',
  begin: beginEnd,
  run: endServer,
  fail: failEnd,
});
