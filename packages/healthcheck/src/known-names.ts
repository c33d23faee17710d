import { HealthcheckConfigError } from './errors.js';

/**
 * Rejects unknown keys.
 *
 * @throws HealthcheckConfigError for the first unknown key; `fix` suggests the most similar known name
 */
export function rejectUnknownKeys(place: string, options: object, knownNames: readonly string[]): void {
  const unknownKey = Object.keys(options).find((key) => !knownNames.includes(key));
  if (unknownKey === undefined) return;
  throw new HealthcheckConfigError(unknownKey, `unknown in ${place}`, didYouMean(unknownKey, knownNames));
}

/** Returns a suggestion for an unknown name: the most similar known name, or all known names. */
export function didYouMean(name: string, knownNames: readonly string[]): string {
  const [closest] = knownNames
    .map((candidate) => ({ candidate, distance: editDistance(normalize(name), normalize(candidate)) }))
    .filter(({ distance }) => distance <= 3)
    .sort((a, b) => a.distance - b.distance);
  return closest ? `Did you mean "${closest.candidate}"?` : `Known names: ${knownNames.join(', ')}`;
}

/** Converts a name to lower case without separators, so that `disable_by_file_path` equals `disableByFilePath`. */
function normalize(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, '');
}

function editDistance(a: string, b: string): number {
  let previousRow = Array.from({ length: b.length }, (_, index) => index + 1);
  let distance = b.length;
  for (let row = 0; row < a.length; row++) {
    let [diagonal, left] = [row, row + 1];
    previousRow = previousRow.map((upper, column) => {
      const substitutionCost = diagonal + (a[row] === b[column] ? 0 : 1);
      diagonal = upper;
      left = Math.min(substitutionCost, upper + 1, left + 1);
      return left;
    });
    distance = left;
  }
  return distance;
}
