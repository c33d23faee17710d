import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { SECRET_HEADERS } from '@apistrata/compute-router';

export const HIDDEN = '***';

const SECRET_HEADER_NAMES = new Set(SECRET_HEADERS);
/**
 * Fields whose text is a secret, whatever the service: `adminPass`, `original_password`, `private_key`, `auth_password`,
 * the `blob` of a credential.
 */
const SECRET_FIELD = /(?:pass(?:word|phrase|wd)?|secret|private_?key|signature|^blob)$/i;

/** Stands in for a secret. */
export type Hide = (secret: string) => string;

const hideAll: Hide = () => HIDDEN;

/** The body without what nobody else should read. */
export function withoutSecrets(value: unknown, hide: Hide = hideAll, key = ''): unknown {
  if (typeof value === 'string') return SECRET_FIELD.test(key) && value !== '' ? hide(value) : value;
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, hide));
  if (typeof value !== 'object' || value === null) return value;
  // The id of a token is the token.
  const isToken = key === 'token' && Object.keys(value).length === 1;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      isToken && name === 'id' && typeof item === 'string' ? hide(item) : withoutSecrets(item, hide, name),
    ]),
  );
}

/** Headers as text, names in lower case, without what lets others act as the client. */
export function headersWithoutSecrets(
  headers: IncomingHttpHeaders | OutgoingHttpHeaders,
  hide: Hide = hideAll,
): Readonly<Record<string, string>> {
  const shown: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) continue;
    const text = Array.isArray(value) ? value.join(', ') : String(value);
    shown[name] = SECRET_HEADER_NAMES.has(name) ? hide(text) : text;
  }
  return shown;
}
