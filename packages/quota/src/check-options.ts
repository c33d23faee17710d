/**
 * Rejects unknown options, and suggests a known option with a similar name.
 *
 * @throws TypeError if an option is unknown; the message contains the fix
 */
export function checkOptions(factory: string, options: object, knownOptions: Readonly<Record<string, true>>): void {
  if (options === null || typeof options !== 'object') throw new TypeError(`${factory}: options must be an object`);
  const unknownOption = Object.keys(options).find((name) => !Object.hasOwn(knownOptions, name));
  if (unknownOption === undefined) return;
  const names = Object.keys(knownOptions);
  const similarName = names.find((name) => isSimilar(name, unknownOption));
  const fix = similarName
    ? `did you mean "${similarName}"?`
    : `known options: ${names.map((name) => `"${name}"`).join(', ')}`;
  throw new TypeError(`${factory}: unknown option "${unknownOption}"; ${fix}`);
}

/**
 * Returns whether two names differ by at most two edits, ignoring case, so that one is probably a misspelling of the
 * other.
 */
function isSimilar(a: string, b: string): boolean {
  const [from, to] = [a.toLowerCase().split(''), b.toLowerCase().split('')];
  let previousRow = to.map((_, index) => index + 1);
  let distance = to.length;
  for (const [row, letter] of from.entries()) {
    let [diagonal, left] = [row, row + 1];
    previousRow = previousRow.map((upper, column) => {
      const substitutionCost = diagonal + (letter === to[column] ? 0 : 1);
      diagonal = upper;
      left = Math.min(substitutionCost, upper + 1, left + 1);
      return left;
    });
    distance = left;
  }
  return distance <= 2;
}
