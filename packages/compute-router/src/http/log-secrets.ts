/** Lower-case names of headers that contain credentials. Their values are not logged. */
export const SECRET_HEADERS: readonly string[] = [
  'x-auth-token',
  'x-service-token',
  'x-subject-token',
  'x-storage-token',
  'x-auth-key',
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
];

const REDACTED_VALUE = '[redacted]';
const TOKEN_PATH = 'os-console-auth-tokens';

/** Returns a copy of the headers with secret values redacted, or the same object if there are no secret headers. */
export function redactHeaders(headers: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const secretNames = SECRET_HEADERS.filter((name) => name in headers);
  if (secretNames.length === 0) return headers;
  return { ...headers, ...Object.fromEntries(secretNames.map((name) => [name, REDACTED_VALUE])) };
}

/** Decodes text that is percent-encoded up to four times. Malformed encodings are not decoded. */
function decodeRepeatedly(text: string): string {
  for (let round = 0, before = text; round < 4; round++, before = text) {
    try {
      text = decodeURIComponent(before);
    } catch {
      return before;
    }
    if (text === before) break;
  }
  return text;
}

/** Redacts a query parameter whose name or value contains "token", in upper or lower case, percent-encoded or not. */
function redactParameter(pair: string): string {
  const [name = ''] = pair.split('=', 1);
  // A console URL contains its token within the value of another parameter: path=%3Ftoken%3D...
  return /token/i.test(decodeRepeatedly(pair.replaceAll('+', ' '))) ? `${name}=${REDACTED_VALUE}` : pair;
}

/** Redacts the console tokens in a URL's path and query, including percent-encoded ones. */
export function redactSecrets(url: string): string;
export function redactSecrets(url: string | undefined): string | undefined;
export function redactSecrets(url: string | undefined): string | undefined {
  // A URL with a secret contains the word "token", which may be percent-encoded.
  if (url === undefined || !(url.includes('%') || url.toLowerCase().includes('token'))) return url;
  const queryStart = url.indexOf('?');
  const path = queryStart < 0 ? url : url.slice(0, queryStart);
  const parts = path.split('/');
  const tokenIndex = parts.findIndex((part) => decodeRepeatedly(part).toLowerCase().includes(TOKEN_PATH));
  // If the slash before the token is percent-encoded, the token is in the same path segment as `TOKEN_PATH`.
  const isTokenInSameSegment =
    tokenIndex >= 0 &&
    !decodeRepeatedly(parts[tokenIndex] ?? '')
      .toLowerCase()
      .endsWith(TOKEN_PATH);
  const before = [...parts.slice(0, tokenIndex), isTokenInSameSegment ? TOKEN_PATH : parts[tokenIndex]];
  const redactedPath =
    tokenIndex < 0
      ? path
      : [...before, ...(isTokenInSameSegment || parts.length > tokenIndex + 1 ? [REDACTED_VALUE] : [])].join('/');
  if (queryStart < 0) return redactedPath;
  const query = url
    .slice(queryStart + 1)
    .split(/(?=[&;])|(?<=[&;])/)
    .map(redactParameter);
  return `${redactedPath}?${query.join('')}`;
}

/** Redacts the query parameters that `redactSecrets()` redacts in URLs. */
export function redactQuery(query: unknown): unknown {
  if (query === null || typeof query !== 'object') return query;
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => {
      const text = `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`;
      return [name, redactParameter(text) === text ? value : REDACTED_VALUE];
    }),
  );
}
