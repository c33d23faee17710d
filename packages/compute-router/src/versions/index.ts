/** The lowest microversion. */
export const MIN_VERSION = '2.1';
/**
 * The highest microversion that is served by default (`maxVersion`); `newestSupported()` is the highest possible one.
 *
 * @example
 * ```ts
 * // This entry point does not load the API itself, so it is suitable for help texts and option parsing.
 * import { MAX_VERSION, MIN_VERSION } from '@apistrata/compute-router/versions';
 *
 * console.log(`--max-version V   ${MIN_VERSION} to ${MAX_VERSION}`);
 * ```
 */
export const MAX_VERSION = '2.100';
