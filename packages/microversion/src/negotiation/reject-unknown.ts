/** Rejects unknown options. @throws TypeError for the first unknown option; the message lists the known options */
export function rejectUnknownOptions(place: string, options: object, knownNames: readonly string[]): void {
  const unknownOption = Object.keys(options).find((name) => !knownNames.includes(name));
  if (unknownOption !== undefined)
    throw new TypeError(`${place}: unknown option '${unknownOption}' (known: ${knownNames.join(', ')})`);
}
