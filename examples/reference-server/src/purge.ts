import { createEngine, type PurgeReport } from '@apistrata/compute-engine';
import { databaseFrom, secretKeyFile } from './database-url.js';
import type { Options } from './options.js';
import { settingsFrom } from './plan.js';
import { StartError } from './start-error.js';

const UNITS_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

function ageMs(text: string | undefined): number {
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(text ?? '') ?? [];
  if (count === undefined) throw new StartError(`purge needs --older-than AGE, such as 30d, 12h or 90m`);
  return Number(count) * UNITS_MS[unit!]!;
}

/**
 * Removes servers that were deleted so long ago, and what the settings keep no longer. Beside servers on PostgreSQL at
 * any time; a SQLite file belongs to one process, so a server that runs has to do it.
 */
export async function purge(options: Options, environment: NodeJS.ProcessEnv = process.env): Promise<PurgeReport> {
  const age = ageMs(options['older-than']);
  const database = databaseFrom(options);
  const engine = await createEngine({
    database,
    secretKeyFile: secretKeyFile(options, environment, database),
    settings: settingsFrom(options),
    // Nothing is added to what the database has.
    preset: {},
    worker: false,
  }).catch((error) => {
    const hint =
      error?.code === 'DATABASE_IN_USE'
        ? ' A server that runs purges by itself: start it with --setting retentionDays=N.'
        : '';
    throw new StartError(`purge: ${error?.message ?? error}${hint}`);
  });
  try {
    return await engine.retention.purge({ ...engine.retention.limits(), deletedBefore: engine.clock.now() - age });
  } finally {
    await engine.close();
  }
}
