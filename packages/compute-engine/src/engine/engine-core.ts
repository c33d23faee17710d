import type { Core } from '../core/core.js';

const coresByEngine = new WeakMap<object, Core>();

/** Associates an engine with its core. */
export function registerCore(engine: object, core: Core): void {
  coresByEngine.set(engine, core);
}

/**
 * Returns the internals of an engine, such as its store, driver, worker and scheduler state, for tests and tools that
 * inspect or manipulate them. Internals may change in any version.
 *
 * @throws TypeError if the engine was not created by `createEngine`
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
  const core = coresByEngine.get(engine);
  if (!core) throw new TypeError('coreOf(): the value is not an engine that createEngine() returned');
  return core;
}
