import type { JournalEntry } from '../front/journal.js';
import { HIDDEN } from '../front/secrets.js';

/** What curl or the connection says by itself. */
const OF_THE_CONNECTION = new Set(['host', 'connection', 'content-length', 'accept-encoding', 'transfer-encoding']);

/** A word for a POSIX shell that stands for itself. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

function header(name: string, value: string): string {
  // A token is not in the journal; who repeats the request has one of their own.
  return name === 'x-auth-token' && value === HIDDEN
    ? '-H "X-Auth-Token: $OS_TOKEN"'
    : `-H ${quoted(`${name}: ${value}`)}`;
}

/** The request as a command that repeats it, with the token of `$OS_TOKEN`. */
export function curlCommand({ method, url, requestHeaders, requestBody }: JournalEntry, cloudUrl: string): string {
  const headers = Object.entries(requestHeaders).filter(([name]) => !OF_THE_CONNECTION.has(name));
  return [
    `curl -sS${method === 'GET' ? '' : ` -X ${method}`} ${quoted(`${cloudUrl}${url}`)}`,
    ...headers.map(([name, value]) => header(name, value)),
    ...(requestBody === undefined ? [] : [`--data ${quoted(JSON.stringify(requestBody))}`]),
  ].join(' \\\n  ');
}
