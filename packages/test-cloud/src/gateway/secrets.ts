import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { SECRET_HEADERS } from '@apistrata/compute-router';

export const REDACTED = '***';

const SECRET_HEADER_NAMES = new Set(SECRET_HEADERS);
/**
 * The fields that contain secrets in all services, such as `adminPass`, `original_password`, `private_key`,
 * `auth_password`, and the `blob` of a credential.
 */
const SECRET_FIELD = /(?:pass(?:word|phrase|wd)?|secret|private_?key|signature|^blob)$/i;

/** Returns the replacement for a secret. */
export type Redact = (secret: string) => string;

const redactAll: Redact = () => REDACTED;

/** Returns a copy of a JSON body in which all secrets are replaced. */
export function redactBody(value: unknown, hide: Redact = redactAll, key = ''): unknown {
  if (typeof value === 'string') return SECRET_FIELD.test(key) && value !== '' ? hide(value) : value;
  if (Array.isArray(value)) return value.map((item) => redactBody(item, hide));
  if (typeof value !== 'object' || value === null) return value;
  // The field `id` of a token contains the token itself.
  const isToken = key === 'token' && Object.keys(value).length === 1;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      isToken && name === 'id' && typeof item === 'string' ? hide(item) : redactBody(item, hide, name),
    ]),
  );
}

/** Returns headers as strings, with names in lower case and credentials replaced. */
export function redactHeaders(
  headers: IncomingHttpHeaders | OutgoingHttpHeaders,
  hide: Redact = redactAll,
): Readonly<Record<string, string>> {
  const redactedHeaders: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) continue;
    const text = Array.isArray(value) ? value.join(', ') : String(value);
    redactedHeaders[name] = SECRET_HEADER_NAMES.has(name) ? hide(text) : text;
  }
  return redactedHeaders;
}
