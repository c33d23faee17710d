import { action } from '../runner/action.js';
import { softDeleteServer } from './end-server.js';

/** Marks a server as deleted in such a way that it can be restored until it is reclaimed. */
export const softDelete = action({
  name: 'softDelete',
  task: 'any',
  lock: true,
  neverLaunched: true,
  during: ['soft-deleting'],
  history: 'delete',
  notifies: 'soft_delete',
  word: 'delete',
  onFailure: 'error',
  run: softDeleteServer,
});
