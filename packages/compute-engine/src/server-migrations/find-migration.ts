import type { Core } from '../core/core.js';
import { notFound } from '../errors/rejection.js';
import type { MigrationRecord, Server } from '../model/index.js';
import { tables } from '../schema/tables.js';

/** Returns a server's migration by the integer id that request paths contain. Throws 404 if it does not exist. */
export async function findMigration({ store }: Core, server: Server, number: string): Promise<MigrationRecord> {
  const seq = /^\d{1,15}$/.test(number) ? Number(number) : undefined;
  const migration = seq === undefined ? undefined : await tables.migrations.bySeq(store, seq);
  if (!migration || migration.serverId !== server.id)
    throw notFound(`Migration ${number} for server ${server.id} could not be found.`);
  return migration;
}
