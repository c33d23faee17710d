import { at, type Version, type Windowed } from '@apistrata/microversion';

/**
 * Returns the value of a history without gaps at a version.
 *
 * @throws TypeError if the history does not define the version
 */
export function definedAt<T>(value: Windowed<T>, version: Version): T {
  const current = at(value, version);
  if (current === undefined) throw new TypeError(`nothing is defined for ${version}`);
  return current;
}
