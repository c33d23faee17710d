import type { JournalEntry } from '../gateway/journal.js';
import { REDACTED } from '../gateway/secrets.js';
import { shellWord } from '../shell-word.js';

/** The request headers that belong to one connection, or that curl sets itself. */
const CONNECTION_HEADERS = new Set(['host', 'connection', 'content-length', 'accept-encoding', 'transfer-encoding']);

function formatHeader(name: string, value: string): string {
  // The journal does not contain tokens, so the command reads one from an environment variable.
  return name === 'x-auth-token' && value === REDACTED
    ? '-H "X-Auth-Token: $OS_TOKEN"'
    : `-H ${shellWord(`${name}: ${value}`)}`;
}

/** Returns a curl command that repeats a request with the token in `$OS_TOKEN`. */
export function formatCurlCommand(
  { method, url, requestHeaders, requestBody }: JournalEntry,
  cloudUrl: string,
): string {
  const headers = Object.entries(requestHeaders).filter(([name]) => !CONNECTION_HEADERS.has(name));
  return [
    `curl -sS${method === 'GET' ? '' : ` -X ${method}`} ${shellWord(`${cloudUrl}${url}`)}`,
    ...headers.map(([name, value]) => formatHeader(name, value)),
    ...(requestBody === undefined ? [] : [`--data ${shellWord(JSON.stringify(requestBody))}`]),
  ].join(' \\\n  ');
}
