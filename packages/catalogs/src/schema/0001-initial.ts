import { createDocumentTable, type Rows, type TableShape } from '@apistrata/record-store';
import type { Kysely } from 'kysely';

const tables: Readonly<Record<string, TableShape>> = {
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
  // `next_slot` is the slot at which the search for a free address starts.
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
    .createTable('image_chunks')
    .addColumn('image_id', 'text', (c) => c.notNull())
    .addColumn('number', 'integer', (c) => c.notNull())
    .addColumn('base64', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('image_chunks_key', ['image_id', 'number'])
    .execute();
  // The addresses in use. `slot` is the distance from the subnet's first address, or null if the distance does not fit
  // into 31 bits or the guest derives the address.
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
