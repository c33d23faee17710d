/**
 * Refuses options that do not exist, with the one that was probably meant.
 *
 * @throws TypeError naming the factory, the option and the cure
 */
export function checkOptions(factory: string, options: object, known: Readonly<Record<string, true>>): void {
  if (options === null || typeof options !== 'object') throw new TypeError(`${factory}: options must be an object`);
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(known, name));
  if (unknown === undefined) return;
  const names = Object.keys(known);
  const meant = names.find((name) => isNear(name, unknown));
  const cure = meant ? `did you mean "${meant}"?` : `known are ${names.map((name) => `"${name}"`).join(', ')}`;
  throw new TypeError(`${factory}: there is no option "${unknown}"; ${cure}`);
}

/** Same letters but for case and one or two slips: the distance that typing errors have. */
function isNear(a: string, b: string): boolean {
  const [from, to] = [a.toLowerCase().split(''), b.toLowerCase().split('')];
  let above = to.map((_, index) => index + 1);
  let distance = to.length;
  for (const [row, letter] of from.entries()) {
    let [diagonal, left] = [row, row + 1];
    above = above.map((upper, column) => {
      const swapped = diagonal + (letter === to[column] ? 0 : 1);
      diagonal = upper;
      left = Math.min(swapped, upper + 1, left + 1);
      return left;
    });
    distance = left;
  }
  return distance <= 2;
}
