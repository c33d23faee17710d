/** Throws a TypeError for the first option nobody reads, with the ones that are read. */
export function refuseUnknown(place: string, options: object, known: readonly string[]): void {
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new TypeError(`${place}: unknown option '${unknown}', known are ${known.join(', ')}`);
}
