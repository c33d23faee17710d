import { createEngine } from '@apistrata/compute-engine';
import { inject } from 'vitest';
import { type FreshDatabase, freshDatabase } from '../../../testing/fresh-database.js';

const template = {
  name: 'api_tables',
  fill: async (url: string) => (await createEngine({ database: url, preset: {}, worker: false })).close(),
};

/** An empty database of the kind that this run of the suite is about (see vitest.config.ts). */
export async function databaseUnderTest(): Promise<FreshDatabase> {
  if (inject('database') === 'postgres') return freshDatabase(inject('postgresUrl'), template);
  return { url: ':memory:', drop: async () => {} };
}
