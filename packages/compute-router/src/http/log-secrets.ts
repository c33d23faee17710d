/** Headers, in lower case, that let whoever reads them act as somebody else. */
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

/** What a log of requests hides, as paths into its entries. */
export const REDACTED = SECRET_HEADERS.flatMap((name) => [`req.headers["${name}"]`, `res.headers["${name}"]`]);

const HIDDEN = '[redacted]';
const TOKEN_PATH = 'os-console-auth-tokens';

/** Text with its escapes undone, however often they were made; as it is where they make no sense. */
function unescaped(text: string): string {
  for (let rounds = 0, before = text; rounds < 4; rounds++, before = text) {
    try {
      text = decodeURIComponent(before);
    } catch {
      return before;
    }
    if (text === before) break;
  }
  return text;
}

/** The parameter without its value where its name says token, in any spelling. */
function hidingValue(pair: string): string {
  const [name = ''] = pair.split('=', 1);
  // The page of a console has its token inside another parameter: path=%3Ftoken%3D...
  return /token/i.test(unescaped(pair.replaceAll('+', ' '))) ? `${name}=${HIDDEN}` : pair;
}

/** A URL for a log: without the tokens of consoles, in whatever spelling they stand in its path or its query. */
export function hidingSecrets(url: string): string;
export function hidingSecrets(url: string | undefined): string | undefined;
export function hidingSecrets(url: string | undefined): string | undefined {
  if (url === undefined) return undefined;
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  const parts = path.split('/');
  const at = parts.findIndex((part) => unescaped(part).toLowerCase().includes(TOKEN_PATH));
  const shown = at < 0 ? path : [...parts.slice(0, at + 1), ...(parts.length > at + 1 ? [HIDDEN] : [])].join('/');
  if (mark < 0) return shown;
  const query = url
    .slice(mark + 1)
    .split(/(?=[&;])|(?<=[&;])/)
    .map(hidingValue);
  return `${shown}?${query.join('')}`;
}
