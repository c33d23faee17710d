import { at, type Version, type Windowed } from '@apistrata/microversion';

/**
 * Returns the value that a version history defines for an API version.
 *
 * @throws TypeError if the history does not define a value for the version
 */
export function definedAt<T>(value: Windowed<T>, version: Version): T {
  const current = at(value, version);
  if (current === undefined) throw new TypeError(`no value is defined for version ${version}`);
  return current;
}
