import { action } from '../runner/action.js';
import { putAside } from './end-server.js';

/** Puts a server aside, so that its owner may think again. */
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
  run: putAside,
});
