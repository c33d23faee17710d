/**
 * Refuses options that nobody reads: a misspelt one would be passed over, and what it should have done not be done.
 *
 * @param place what is called, for the message: `createEngine()`
 * @param known an object with every key of the options' type, so that the type and the check cannot differ
 * @throws TypeError naming the place, the option, and those there are
 */
export function checkOptions<T extends object>(
  place: string,
  options: T,
  known: Readonly<Record<keyof T, unknown>>,
): void {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(known, name));
  if (unknown === undefined) return;
  throw new TypeError(`${place}: unknown option "${unknown}" (there are ${Object.keys(known).join(', ')})`);
}
