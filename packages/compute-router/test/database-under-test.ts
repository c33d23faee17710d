import { createEngine } from '@apistrata/compute-engine';
import { inject } from 'vitest';
import { emptied, freshDatabase } from '../../../testing/fresh-database.js';

const template = {
  name: 'api_tables',
  fill: async (url: string) => (await createEngine({ database: url, preset: {}, worker: false })).close(),
};

/** Databases of this test file that nobody uses any more. */
const spare: string[] = [];

export interface DatabaseUnderTest {
  readonly url: string;
  /** What only reads may be answered by these. */
  readonly replicas: readonly string[];
  /** To be called when nobody is connected any more; the next one who needs a database gets this one, emptied. */
  release(): void;
}

/** An empty database of the kind that this run of the suite is about (see vitest.config.ts). */
export async function databaseUnderTest(): Promise<DatabaseUnderTest> {
  if (inject('database') === 'sqlite') return { url: ':memory:', replicas: [], release: () => {} };
  const used = spare.pop();
  const url = used === undefined ? await freshDatabase(inject('postgresUrl'), template) : await emptied(used);
  const sameOn = (server: string) => `${server.replace(/\/[^/]*$/, '')}${new URL(url).pathname}`;
  return {
    url: inject('database') === 'pgbouncer' ? sameOn(inject('pgbouncerUrl')) : url,
    replicas: inject('database') === 'replica' ? [sameOn(inject('replicaUrl'))] : [],
    release: () => void spare.push(url),
  };
}
