/** Rejects unknown options. @throws TypeError for the first unknown option; the message lists the known options */
export function rejectUnknown(place: string, options: object, knownNames: readonly string[]): void {
  const unknown = Object.keys(options).find((name) => !knownNames.includes(name));
  if (unknown !== undefined)
    throw new TypeError(`${place}: unknown option '${unknown}' (known: ${knownNames.join(', ')})`);
}
