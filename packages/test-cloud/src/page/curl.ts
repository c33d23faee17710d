import type { JournalEntry } from '../front/journal.js';
import { HIDDEN } from '../front/secrets.js';
import { shellWord } from '../shell-word.js';

/** What curl or the connection says by itself. */
const OF_THE_CONNECTION = new Set(['host', 'connection', 'content-length', 'accept-encoding', 'transfer-encoding']);

function header(name: string, value: string): string {
  // A token is not in the journal; who repeats the request has one of their own.
  return name === 'x-auth-token' && value === HIDDEN
    ? '-H "X-Auth-Token: $OS_TOKEN"'
    : `-H ${shellWord(`${name}: ${value}`)}`;
}

/** The request as a command that repeats it, with the token of `$OS_TOKEN`. */
export function curlCommand({ method, url, requestHeaders, requestBody }: JournalEntry, cloudUrl: string): string {
  const headers = Object.entries(requestHeaders).filter(([name]) => !OF_THE_CONNECTION.has(name));
  return [
    `curl -sS${method === 'GET' ? '' : ` -X ${method}`} ${shellWord(`${cloudUrl}${url}`)}`,
    ...headers.map(([name, value]) => header(name, value)),
    ...(requestBody === undefined ? [] : [`--data ${shellWord(JSON.stringify(requestBody))}`]),
  ].join(' \\\n  ');
}
