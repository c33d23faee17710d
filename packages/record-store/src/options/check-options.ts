/**
 * Rejects unknown options, so that a misspelled option is not ignored.
 *
 * @param functionName the name of the calling function for the message, such as `createEngine()`
 * @param knownOptions an object with every key of the options type, so that the type and this check cannot differ
 * @throws TypeError with the function, the unknown option and the known ones
 *
 * @example
 * ```ts
 * import { checkOptions, defaultDatabaseSettings } from '@apistrata/record-store/options';
 *
 * export function createNoteStore(options: Partial<typeof defaultDatabaseSettings>): void {
 *   checkOptions('createNoteStore()', options, defaultDatabaseSettings);
 * }
 * ```
 */
export function checkOptions<T extends object>(
  functionName: string,
  options: T,
  knownOptions: Readonly<Record<keyof T, unknown>>,
): void {
  const unknownName = Object.keys(options).find((name) => !Object.hasOwn(knownOptions, name));
  if (unknownName === undefined) return;
  throw new TypeError(
    `${functionName}: unknown option "${unknownName}" (known: ${Object.keys(knownOptions).join(', ')})`,
  );
}
