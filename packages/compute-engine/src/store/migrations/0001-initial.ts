import type { Kysely } from 'kysely';
import { createDocumentTable, type TableShape } from '../create-table.js';
import type { Rows } from '../database.js';

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
  images: {
    columns: {
      project_id: 'text',
      name: 'text',
      status: 'text',
      visibility: 'text',
      hidden: 'integer',
      server_id: 'text',
      updated_at: 'bigint',
    },
    indexes: [['project_id', 'seq'], ['visibility', 'seq'], ['server_id'], ['name']],
  },
  image_members: {
    columns: { image_id: 'text', project_id: 'text', status: 'text' },
    indexes: [['image_id'], ['project_id', 'status']],
  },
  networks: {
    columns: { project_id: 'text', name: 'text', shared: 'integer', external: 'integer' },
    indexes: [['project_id', 'seq'], ['shared'], ['external']],
  },
  // next_slot: where the search for a free address begins.
  subnets: {
    columns: { project_id: 'text', network_id: 'text', name: 'text', next_slot: 'counter' },
    indexes: [['network_id'], ['project_id', 'seq']],
  },
  routers: { columns: { project_id: 'text', name: 'text' }, indexes: [['project_id', 'seq']] },
  ports: {
    columns: { project_id: 'text', network_id: 'text', device_id: 'text', name: 'text', mac: 'text' },
    indexes: [['device_id'], ['unique:network_id', 'mac'], ['project_id', 'seq']],
  },
  floating_ips: {
    columns: { project_id: 'text', network_id: 'text', port_id: 'text', address: 'text' },
    indexes: [['project_id', 'seq'], ['port_id'], ['address']],
  },
  security_groups: { columns: { project_id: 'text', name: 'text' }, indexes: [['project_id', 'name']] },
  security_group_rules: {
    columns: { project_id: 'text', group_id: 'text', remote_group_id: 'text' },
    indexes: [['group_id'], ['remote_group_id']],
  },
  volumes: {
    columns: { project_id: 'text', status: 'text', name: 'text', type_name: 'text' },
    indexes: [['project_id', 'seq'], ['type_name']],
  },
  volume_attachments: {
    columns: { project_id: 'text', volume_id: 'text', server_id: 'text' },
    indexes: [['volume_id'], ['server_id']],
  },
  snapshots: {
    columns: { project_id: 'text', volume_id: 'text', status: 'text', name: 'text' },
    indexes: [['project_id', 'seq'], ['volume_id']],
  },
  volume_types: { columns: { name: 'text' }, indexes: [['unique:name']] },
  shares: { columns: { project_id: 'text', name: 'text' }, indexes: [['project_id', 'seq']] },
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
  await db.schema
    .createTable('image_chunks')
    .addColumn('image_id', 'text', (c) => c.notNull())
    .addColumn('number', 'integer', (c) => c.notNull())
    .addColumn('base64', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('image_chunks_key', ['image_id', 'number'])
    .execute();
  // Which addresses are taken. The slot is the distance from the subnet's first address, where that is a small number.
  await db.schema
    .createTable('ip_allocations')
    .addColumn('subnet_id', 'text', (c) => c.notNull())
    .addColumn('address', 'text', (c) => c.notNull())
    .addColumn('slot', 'bigint')
    .addColumn('holder_id', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('ip_allocations_key', ['address', 'subnet_id'])
    .execute();
  await db.schema.createIndex('ip_allocations_slot').on('ip_allocations').columns(['subnet_id', 'slot']).execute();
}
