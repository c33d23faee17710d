import { at, type Version, type Windowed } from '@apistrata/microversion';

/** The value of a history without gaps. Throws for a gap: whoever wrote the history forgot a version. */
export function gaplessAt<T>(value: Windowed<T>, version: Version): T {
  const current = at(value, version);
  if (current === undefined) throw new TypeError(`nothing is defined for ${version}`);
  return current;
}
