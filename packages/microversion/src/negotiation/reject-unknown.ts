/** @throws TypeError for the first unknown option, listing the known ones */
export function rejectUnknown(place: string, options: object, knownNames: readonly string[]): void {
  const unknown = Object.keys(options).find((name) => !knownNames.includes(name));
  if (unknown !== undefined)
    throw new TypeError(`${place}: unknown option '${unknown}', known are ${knownNames.join(', ')}`);
}
