import { action } from '../../runs/action.js';
import { beginEnd, endServer, failEnd } from './end-server.js';

/** Removes a server at once, whatever is being done to it: for those that wait to be restored, and impatient owners. */
export const forceDelete = action({
  name: 'forceDelete',
  task: 'any',
  lock: true,
  neverLaunched: true,
  during: ['deleting'],
  history: 'delete',
  onFailure: 'error',
  begin: beginEnd,
  run: endServer,
  fail: failEnd,
});
