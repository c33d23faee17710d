import type { Session, Tx } from '@apistrata/record-store';
import type { MigrationRecord, MigrationStatus } from '../model/index.js';
import { tables } from '../schema/tables.js';

/** The statuses of evacuations whose source host may still have resources of the server. */
export const OPEN_EVACUATION_STATUSES: readonly MigrationStatus[] = ['accepted', 'pre-migrating', 'done'];

/** Returns the evacuations with one of the given statuses from the given hosts. */
export async function findEvacuationsFrom(
  session: Session,
  hosts: readonly string[],
  statuses: readonly MigrationStatus[],
): Promise<readonly MigrationRecord[]> {
  if (hosts.length === 0) return [];
  return tables.migrations.find(session, (q) =>
    q.where('source_host', 'in', hosts).where('type', '=', 'evacuation').where('status', 'in', statuses),
  );
}

/** Completes the evacuations from hosts that are up again and have removed all resources of the evacuated servers. */
export async function completeEvacuations(tx: Tx, hosts: readonly string[], now: number): Promise<void> {
  for (const migration of await findEvacuationsFrom(tx, hosts, ['done']))
    await tables.migrations.update(tx, { ...migration, status: 'completed', updatedAt: now });
}
