import { action } from '../runner/action.js';
import { deleteServer } from './delete.js';

/** Removes a server at once, whatever is being done to it: for those that wait to be restored, and impatient owners. */
export const forceDelete = action({ ...deleteServer, name: 'forceDelete' });
