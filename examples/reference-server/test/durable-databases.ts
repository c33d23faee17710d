import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, inject } from 'vitest';
import { freshDatabase } from '../../../testing/fresh-database.js';

/** Returns a temporary folder, which is removed after the tests of the file, and the databases that they run on. */
export function durableDatabases(name: string) {
  const folder = mkdtempSync(join(tmpdir(), `apistrata-${name}-`));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const postgresUrl = inject('postgresUrl');
  const databases = [
    { kind: 'a SQLite file', url: async () => join(folder, 'cloud.db') },
    ...(postgresUrl ? [{ kind: 'PostgreSQL', url: () => freshDatabase(postgresUrl) }] : []),
  ];
  return { folder, databases };
}
