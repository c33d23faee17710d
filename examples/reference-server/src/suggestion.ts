import leven from 'leven';

/** The maximum number of edits between a name and its suggestion. */
const MAX_EDITS = 3;

const plain = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, '');

/**
 * Returns the known name that is most likely meant, or undefined. Case, dashes and underscores are ignored: `logLevel`,
 * `log_level` and `LOG-LEVEL` all suggest `log-level`. The beginning of a known name suggests that name.
 */
export function closestOf(name: string, knownNames: readonly string[]): string | undefined {
  const typed = plain(name);
  const isPrefix = (candidate: string) => typed.length > MAX_EDITS && plain(candidate).startsWith(typed);
  const edits = (candidate: string) => (isPrefix(candidate) ? 0 : leven(typed, plain(candidate)));
  const near = knownNames
    .map((candidate) => ({ candidate, distance: edits(candidate) }))
    .filter(({ candidate, distance }) => distance <= Math.min(MAX_EDITS, Math.floor(plain(candidate).length / 2)));
  return near.sort((a, b) => a.distance - b.distance)[0]?.candidate;
}

/** Returns the end of an error message about an unknown name: the name that is likely meant, or else `otherwise`. */
export function suggestion(name: string, knownNames: readonly string[], otherwise: string): string {
  const closest = closestOf(name, knownNames);
  return closest === undefined ? otherwise : `Did you mean "${closest}"?`;
}
