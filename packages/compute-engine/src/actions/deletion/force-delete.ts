import { action } from '../runner/action.js';
import { deleteServer } from './delete.js';

/** Deletes a server immediately, regardless of its state: for soft-deleted servers, and to interrupt other actions. */
export const forceDelete = action({ ...deleteServer, name: 'forceDelete' });
