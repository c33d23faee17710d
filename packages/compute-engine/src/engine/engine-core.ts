import type { Core } from '../core/core.js';

const cores = new WeakMap<object, Core>();

/** Remembers what an engine is made of. */
export function keepCore(engine: object, core: Core): void {
  cores.set(engine, core);
}

/**
 * What an engine works with: its store, driver, worker and picture of the hosts. For tests and tools that must see or
 * break what no client can; these parts change from version to version. Throws a TypeError for what `createEngine` has
 * not made.
 *
 * @example
 * ```ts
 * import { createEngine } from '@apistrata/compute-engine';
 * import { coreOf } from '@apistrata/compute-engine/testing';
 *
 * const { worker } = coreOf(await createEngine());
 * const jobs: number = await worker.pending();
 * ```
 */
export function coreOf(engine: object): Core {
  const core = cores.get(engine);
  if (!core) throw new TypeError('coreOf(): this is no engine that createEngine() has made');
  return core;
}
