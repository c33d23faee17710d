/** The lowest microversion there is. */
export const MIN_VERSION = '2.1';
/**
 * The highest one that is served unless `maxVersion` says otherwise; `latestKnown()` is the highest that could be.
 *
 * @example
 * ```ts
 * // For help texts and options: the API itself, which takes longer to load, is not loaded with it.
 * import { MAX_VERSION, MIN_VERSION } from '@apistrata/compute-router/versions';
 *
 * console.log(`--max-version V   ${MIN_VERSION} to ${MAX_VERSION}`);
 * ```
 */
export const MAX_VERSION = '2.100';
