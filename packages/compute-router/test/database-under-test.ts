import { createEngine } from '@apistrata/compute-engine';
import { inject } from 'vitest';
import { emptyDatabase, freshDatabase } from '../../../testing/fresh-database.js';

const template = {
  name: 'api_tables',
  fill: async (url: string) => (await createEngine({ database: url, preset: {}, worker: false })).close(),
};

/** Unused databases of this test file. */
const spare: string[] = [];

export interface DatabaseUnderTest {
  readonly url: string;
  /** Replicas for reads. */
  readonly replicas: readonly string[];
  /** Releases the database after all connections are closed; it is emptied and reused. */
  release(): void;
}

/** Returns an empty database of the kind that the Vitest project tests (see vitest.config.ts). */
export async function databaseUnderTest(): Promise<DatabaseUnderTest> {
  if (inject('database') === 'sqlite') return { url: ':memory:', replicas: [], release: () => {} };
  const used = spare.pop();
  const url = used === undefined ? await freshDatabase(inject('postgresUrl'), template) : await emptyDatabase(used);
  const databaseOn = (server: string) => `${server.replace(/\/[^/]*$/, '')}${new URL(url).pathname}`;
  return {
    url: inject('database') === 'pgbouncer' ? databaseOn(inject('pgbouncerUrl')) : url,
    replicas: inject('database') === 'replica' ? [databaseOn(inject('replicaUrl'))] : [],
    release: () => void spare.push(url),
  };
}
