import { at, type Version, type Windowed } from '@apistrata/microversion';

/**
 * Returns the value that a version history defines for an API version.
 *
 * @throws TypeError if the history does not define a value for the version
 */
export function requireValueAt<T>(value: Windowed<T>, version: Version): T {
  const definedValue = at(value, version);
  if (definedValue === undefined) throw new TypeError(`no value is defined for version ${version}`);
  return definedValue;
}
