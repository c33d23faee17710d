import type { Engine } from './engine.js';
import { checkEngineOptions, type EngineOptions } from './engine-options.js';

/**
 * Creates an engine: opens the database, updates its schema, and starts the background work.
 *
 * @throws `DatabaseUnavailable` if the database cannot be reached
 * @throws `InvalidPreset` if the preset is invalid
 * @throws `DatabaseInUse` if another engine uses the SQLite file
 * @throws `DatabaseTooNew` if a newer version of this package created the schema
 * @throws TypeError for unknown options, RangeError for settings out of range
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
  // The engine and its dependencies, mainly the database toolkit, are loaded on first use, so that programs that import
  // only constants, errors or types start faster.
  const { openEngine } = await import('./engine.js');
  return openEngine(options);
}
