import { action } from '../runner/action.js';
import { softDeleteServer } from './end-server.js';

/** Marks a server as deleted, so that it can still be restored. */
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
