import { action } from '../runner/action.js';
import { softDeleteServer } from './end-server.js';

/** Soft-deletes a server. It can be restored until the engine reclaims it. */
export const softDelete = action({
  name: 'softDelete',
  taskStates: 'any',
  lock: true,
  neverLaunched: true,
  during: ['soft-deleting'],
  history: 'delete',
  notifies: 'soft_delete',
  nameInMessages: 'delete',
  onFailure: 'error',
  run: softDeleteServer,
});
