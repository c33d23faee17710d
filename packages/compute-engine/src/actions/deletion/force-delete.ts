import { action } from '../runner/action.js';
import { deleteServer } from './delete.js';

/**
 * Deletes a server immediately in any state, for example a soft-deleted server or a server with an action in progress.
 */
export const forceDelete = action({ ...deleteServer, name: 'forceDelete' });
