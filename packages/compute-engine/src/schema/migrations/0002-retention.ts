import { createDocumentTable, type Rows } from '@apistrata/record-store';
import { type Kysely, sql } from 'kysely';

/** Creates the table for the usage of purged servers, and indexes for purges and for usage in a period. */
export async function up(db: Kysely<Rows>): Promise<void> {
  await createDocumentTable(db, 'server_usage', {
    columns: { project_id: 'text', host: 'text', launched_at: 'bigint', terminated_at: 'bigint' },
    indexes: [['project_id', 'terminated_at'], ['terminated_at'], ['host', 'terminated_at']],
  });
  // Each server is in exactly one of the two indexes: running servers in page order, terminated servers by termination
  // time.
  await sql`create index servers_running on servers (project_id, id) where terminated_at is null`.execute(db);
  await sql`create index servers_ended_of on servers (project_id, terminated_at) where terminated_at is not null`.execute(
    db,
  );
  await sql`create index servers_ended on servers (terminated_at, seq) where terminated_at is not null`.execute(db);
  await sql`create index servers_ended_on on servers (host, terminated_at) where terminated_at is not null`.execute(db);
  // An index by project and launch time would not speed up usage reports: most servers were launched before the period
  // of the report starts.
  await db.schema.dropIndex('servers_10').execute();
  await db.schema.createIndex('instance_actions_updated').on('instance_actions').columns(['updated_at']).execute();
  await db.schema.createIndex('migrations_updated').on('migrations').columns(['updated_at']).execute();
}
