import type { IncomingMessage } from 'node:http';
import { type Content, genericError } from './generic-error.js';

/** The versions this API has; what differs between them is outside of project quotas. */
const VERSIONS = ['1.0', '1.1'] as const;
const LENIENT = /^\+?(\d+)\s*\.\s*\+?(\d+)$/;

export type Negotiated = { readonly version: string } | { readonly status: number; readonly content: Content };

/** What version a request asks for: the last item of the header that names our service; without one, the lowest. */
export function negotiate(req: IncomingMessage, header: string, serviceType: string): Negotiated {
  const text = requestedIn(String(req.headers[header.toLowerCase()] ?? ''), serviceType);
  if (text === undefined) return { version: VERSIONS[0] };
  const match = LENIENT.exec(text);
  if (!match) {
    const message = `Invalid microversion: ${text} is not two numbers joined by a dot`;
    return { status: 400, content: genericError(req, 400, message) };
  }
  const version = `${BigInt(match[1]!)}.${BigInt(match[2]!)}`;
  if ((VERSIONS as readonly string[]).includes(version)) return { version };
  return { status: 406, content: unacceptable(version, serviceType) };
}

function requestedIn(text: string, serviceType: string): string | undefined {
  for (const item of text.split(',').reverse()) {
    const words = item.trim();
    const blank = words.search(/[ \t]/);
    if (blank > 0 && words.slice(0, blank).toLowerCase() === serviceType.toLowerCase())
      return words.slice(blank).trim();
  }
  return undefined;
}

/** In the error form of the API-SIG guidelines, which tells the client the range. */
function unacceptable(version: string, serviceType: string): Content {
  const error = {
    code: `${serviceType}.microversion-unsupported`,
    status: 406,
    title: 'Unsupported microversion',
    detail: `Invalid microversion: Unacceptable version header: ${version}`,
    min_version: VERSIONS[0],
    max_version: VERSIONS.at(-1),
  };
  return { type: 'application/json', body: JSON.stringify({ errors: [error] }) };
}
