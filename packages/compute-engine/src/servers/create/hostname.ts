/**
 * The host name a server gets from its name: letters beyond U+00FF dropped, blanks, underscores and dots turned into
 * dashes, everything else that is no word character removed, lower case, at most 63 characters.
 */
export function hostnameOf(name: string, serverId: string): string {
  const latin = [...name]
    .filter((letter) => letter <= '\u00ff')
    .join('')
    .slice(0, 63);
  const cleaned = latin
    .replaceAll(/[ _.]/g, '-')
    .replaceAll(/[^\p{L}\p{N}_-]+/gu, '')
    .toLowerCase()
    .replaceAll(/^[.-]+|[.-]+$/g, '');
  return cleaned || `Server-${serverId}`;
}
