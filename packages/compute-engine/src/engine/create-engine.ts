import type { Engine } from './engine.js';
import { checkEngineOptions, type EngineOptions } from './engine-options.js';

/**
 * Opens the database, brings its tables up to date, and starts working on what is owed. Throws `DatabaseUnavailable`,
 * `InvalidPreset`, `DatabaseInUse` for a SQLite file that another engine has, `DatabaseTooNew` for one that a newer version made, and
 * RangeError for settings that cannot be.
 *
 * @example
 * ```ts
 * import { createEngine } from '@apistrata/compute-engine';
 *
 * const engine = await createEngine({ database: 'cloud.db' });
 * await engine.close();
 * ```
 */
export async function createEngine(options: EngineOptions = {}): Promise<Engine> {
  checkEngineOptions(options);
  // The engine and all that it stands on, the database's toolkit above all, are loaded with the first one that is made:
  // who only needs names, errors or types of this package does not wait for them.
  const { openEngine } = await import('./engine.js');
  return openEngine(options);
}
