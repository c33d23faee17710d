import { randomUUID } from 'node:crypto';
import { compoundKey } from '../src/document-table/compound-key.js';
import { DocumentTable } from '../src/document-table/document-table.js';
import type { Stored } from '../src/document-table/stored.js';
import { createDocumentTable } from '../src/schema/create-table.js';
import type { SchemaChanges } from '../src/schema/schema-change.js';

export interface Keypair extends Stored {
  readonly userId: string;
  readonly name: string;
  readonly type: string;
  readonly publicKey: string;
  readonly fingerprint: string;
  readonly createdAt: number;
}

interface ServerGroup extends Stored {
  readonly id: string;
  readonly projectId: string;
  readonly userId: string;
  readonly name: string;
}

interface Server extends Stored {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  readonly description: string | null;
  readonly userData: string | null;
  readonly accessIpV4: string;
  readonly accessIpV6: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly tags: readonly string[];
  readonly trustedCerts: readonly string[] | null;
  readonly newFlavor: string | null;
  readonly setAsideAt: number | null;
}

/** Defaults of fields that old records lack. */
export const serverDefaults = {
  description: null,
  userData: null,
  accessIpV4: '',
  accessIpV6: '',
  metadata: {},
  tags: [],
  trustedCerts: null,
} as const;

export function sampleServer(fields: Partial<Server>): Server {
  const id = randomUUID();
  const own = { id, seq: 1, revision: 1, projectId: 'project', name: `server-${id.slice(0, 8)}` };
  return { ...serverDefaults, ...own, newFlavor: null, setAsideAt: null, ...fields };
}

export const tables = {
  servers: new DocumentTable<Server>({
    name: 'servers',
    key: (s) => s.id,
    defaults: { ...serverDefaults, newFlavor: null, setAsideAt: null },
    columns: { project_id: (s) => s.projectId, name: (s) => s.name },
  }),
  keypairs: new DocumentTable<Keypair>({
    name: 'keypairs',
    key: (k) => compoundKey(k.userId, k.name),
    columns: { user_id: (k) => k.userId, name: (k) => k.name },
  }),
  serverGroups: new DocumentTable<ServerGroup>({
    name: 'server_groups',
    key: (g) => g.id,
    columns: { project_id: (g) => g.projectId, user_id: (g) => g.userId },
  }),
} as const;

/**
 * The changes that create the tables. There are two, so that tests can observe their order; the second also inserts a
 * row.
 */
export const migrations: SchemaChanges = {
  '0001-initial': {
    async up(db) {
      await createDocumentTable(db, 'servers', {
        columns: { project_id: 'text', name: 'text' },
        indexes: [['project_id', 'seq']],
      });
      await createDocumentTable(db, 'keypairs', {
        columns: { user_id: 'text', name: 'text' },
        indexes: [['unique:user_id', 'name']],
      });
    },
  },
  '0002-groups': {
    async up(db) {
      // Replaces an index.
      await db.schema.dropIndex('servers_0').execute();
      await db.schema.createIndex('servers_of_project').on('servers').columns(['project_id', 'name']).execute();
      await createDocumentTable(db, 'server_groups', {
        columns: { project_id: 'text', user_id: 'text' },
        indexes: [['project_id', 'seq']],
      });
      await db.schema
        .createTable('jobs')
        .addColumn('id', 'text', (c) => c.primaryKey())
        .addColumn('kind', 'text')
        .addColumn('payload', 'text')
        .addColumn('run_at', 'bigint')
        .addColumn('lease_until', 'bigint')
        .addColumn('attempts', 'integer')
        .execute();
      await db.schema.createTable('cursors').addColumn('name', 'text').addColumn('position', 'bigint').execute();
      await db.insertInto('cursors').values({ name: '', position: 0 }).execute();
    },
  },
};
