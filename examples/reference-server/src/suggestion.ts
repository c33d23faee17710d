import leven from 'leven';

/** The maximum number of edits between a name and its suggestion. */
const MAX_EDITS = 3;

const normalizeName = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, '');

/**
 * Returns the known name that is most likely meant, or undefined. Case, dashes and underscores are ignored: `logLevel`,
 * `log_level` and `LOG-LEVEL` all suggest `log-level`. The beginning of a known name suggests that name.
 */
export function findClosestName(name: string, knownNames: readonly string[]): string | undefined {
  const normalizedName = normalizeName(name);
  const isPrefix = (candidate: string) =>
    normalizedName.length > MAX_EDITS && normalizeName(candidate).startsWith(normalizedName);
  const editDistance = (candidate: string) =>
    isPrefix(candidate) ? 0 : leven(normalizedName, normalizeName(candidate));
  const similarNames = knownNames
    .map((candidate) => ({ candidate, distance: editDistance(candidate) }))
    .filter(
      ({ candidate, distance }) => distance <= Math.min(MAX_EDITS, Math.floor(normalizeName(candidate).length / 2)),
    );
  return similarNames.sort((a, b) => a.distance - b.distance)[0]?.candidate;
}

/** Returns the end of an error message about an unknown name: a suggestion, or `fallback` if no name is similar. */
export function suggestionFor(name: string, knownNames: readonly string[], fallback: string): string {
  const closest = findClosestName(name, knownNames);
  return closest === undefined ? fallback : `Did you mean "${closest}"?`;
}
