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
  const [from, to] = [a.toLowerCase(), b.toLowerCase()];
  let previous = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const swap = previous[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1);
      row.push(Math.min(swap, previous[j]! + 1, row[j - 1]! + 1));
    }
    previous = row;
  }
  return previous[to.length]! <= 2;
}
