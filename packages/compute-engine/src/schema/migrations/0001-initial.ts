import { createDocumentTable, type Rows, type TableShape } from '@apistrata/record-store';
import type { Kysely } from 'kysely';

const tables: Readonly<Record<string, TableShape>> = {
  servers: {
    columns: {
      project_id: 'text',
      user_id: 'text',
      name: 'text',
      vm_state: 'text',
      task_state: 'text',
      host: 'text',
      flavor_id: 'text',
      image_id: 'text',
      reservation_id: 'text',
      group_id: 'text',
      locked: 'integer',
      deleted: 'integer',
      created_at: 'bigint',
      updated_at: 'bigint',
      launched_at: 'bigint',
      terminated_at: 'bigint',
      vcpus: 'integer',
      memory_mb: 'integer',
    },
    indexes: [
      ['deleted', 'project_id', 'created_at', 'seq'],
      ['deleted', 'created_at', 'seq'],
      ['project_id', 'deleted', 'vm_state', 'vcpus', 'memory_mb'],
      ['deleted', 'project_id', 'name'],
      ['deleted', 'project_id', 'vm_state', 'created_at', 'seq'],
      ['deleted', 'project_id', 'updated_at', 'seq'],
      ['deleted', 'vm_state', 'created_at', 'seq'],
      ['deleted', 'updated_at'],
      ['host', 'deleted'],
      ['group_id', 'deleted'],
      ['project_id', 'launched_at'],
    ],
  },
  instance_actions: {
    columns: { server_id: 'text', request_id: 'text', updated_at: 'bigint' },
    indexes: [
      ['server_id', 'seq'],
      ['unique:server_id', 'request_id'],
    ],
  },
  migrations: {
    columns: {
      server_id: 'text',
      project_id: 'text',
      user_id: 'text',
      source_host: 'text',
      dest_host: 'text',
      status: 'text',
      type: 'text',
      hidden: 'integer',
      updated_at: 'bigint',
    },
    indexes: [
      ['server_id', 'seq'],
      ['source_host', 'status'],
      ['dest_host', 'status'],
      ['project_id', 'seq'],
    ],
  },
  flavors: {
    columns: { name: 'text', is_public: 'integer', disabled: 'integer' },
    indexes: [['unique:name']],
  },
  keypairs: { columns: { user_id: 'text', name: 'text' }, indexes: [['unique:user_id', 'name']] },
  server_groups: { columns: { project_id: 'text', user_id: 'text' }, indexes: [['project_id', 'seq']] },
  aggregates: { columns: { name: 'text' }, indexes: [['unique:name']] },
  services: { columns: { host: 'text', binary_name: 'text' }, indexes: [['unique:host', 'binary_name']] },
  nodes: {
    columns: {
      host: 'text',
      vcpus_used: 'counter',
      memory_mb_used: 'counter',
      local_gb_used: 'counter',
      servers: 'counter',
    },
    indexes: [['host']],
  },
  quota_sets: { columns: { project_id: 'text', user_id: 'text' }, indexes: [['unique:project_id', 'user_id']] },
  quota_classes: {},
  console_tokens: { columns: { server_id: 'text', expires_at: 'bigint' }, indexes: [['expires_at']] },
};

export async function up(db: Kysely<Rows>): Promise<void> {
  for (const [name, shape] of Object.entries(tables)) await createDocumentTable(db, name, shape);
  await db.schema
    .createTable('jobs')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('server_id', 'text')
    .addColumn('payload', 'text', (c) => c.notNull())
    .addColumn('run_at', 'bigint', (c) => c.notNull())
    .addColumn('lease_until', 'bigint', (c) => c.notNull())
    .addColumn('lease_owner', 'text')
    .addColumn('attempts', 'integer', (c) => c.notNull())
    .execute();
  await db.schema.createIndex('jobs_due').on('jobs').columns(['lease_until', 'run_at']).execute();
}
