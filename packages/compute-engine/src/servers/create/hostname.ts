/**
 * Derives the hostname of a server from its name: drops characters beyond U+00FF, replaces spaces, underscores and dots
 * with dashes, removes all other non-word characters, converts to lower case, and truncates to 63 characters.
 */
export function hostnameOf(name: string, serverId: string): string {
  const latinName = [...name]
    .filter((character) => character <= '\u00ff')
    .join('')
    .slice(0, 63);
  const cleanedName = latinName
    .replaceAll(/[ _.]/g, '-')
    .replaceAll(/[^\p{L}\p{N}_-]+/gu, '')
    .toLowerCase()
    .replaceAll(/^[.-]+|[.-]+$/g, '');
  return cleanedName || `Server-${serverId}`;
}
