import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { notFound } from '../service/service-error.js';

const TITLES = { groups: 'Group', group_snapshots: 'GroupSnapshot', backups: 'Backup' };

/** Returns a record that a request refers to. Throws a 404 error if it does not exist or belongs to another project. */
export function findDocument(call: Call, table: keyof typeof TITLES, id: unknown): Doc {
  const found = call.cloud.documents.table<Doc>(`volume/${table}`).get(String(id));
  if (!found || (found.project_id !== call.caller.projectId && !call.isAdmin))
    throw notFound(`${TITLES[table]} ${id} could not be found.`);
  return found;
}
