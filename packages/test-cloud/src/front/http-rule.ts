import type { IncomingMessage } from 'node:http';
import { urlPath } from '../url-path.js';

/** A regular expression, or something else that tests texts as one does. */
export type TextPattern = Pick<RegExp, 'source' | 'flags' | 'test'>;

/** Which requests a rule speaks of; everything given must hold. Text matches whole, `path` without the query. */
export interface HttpMatch {
  readonly method?: string;
  /** Path from the root of the cloud, such as `/compute/v2.1/servers`. */
  readonly path?: string | TextPattern;
  /** Microversion as the request asks for it. */
  readonly version?: string;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string | TextPattern>>;
  /** A part of the JSON body: `{ server: { name: 'web' } }`. Text may be a pattern. */
  readonly body?: unknown;
}

/** What happens instead. An empty one lets the request pass. */
export interface HttpEffect {
  /** Waits so long first, in the cloud's time. */
  readonly delayMs?: number;
  readonly status?: number;
  /** JSON of the answer; default: an error that says it was scripted. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Cuts the connection instead of answering. */
  readonly drop?: true;
  /** Lets the service do its work first, and only then answers as above: the client cannot know that it was done. */
  readonly apply?: true;
}

/** Scripted behaviour of the wire. */
export interface HttpRule extends HttpEffect {
  readonly match: HttpMatch;
  /** Only from this matching request on, counted from 1. */
  readonly fromCall?: number;
  /** Only so many requests; then everything is as usual. */
  readonly times?: number;
  /** One effect for each matching request, in turn; then everything is as usual. */
  readonly sequence?: readonly HttpEffect[];
}

function sameText(pattern: string | TextPattern, text: string): boolean {
  if (typeof pattern === 'string') return pattern === text;
  if (!(pattern instanceof RegExp)) return pattern.test(text);
  // With these flags a RegExp remembers where it was.
  return new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, '')).test(text);
}

/** Whether everything in `part` is in `whole` as well. */
function contains(whole: unknown, part: unknown): boolean {
  if (part instanceof RegExp) return typeof whole === 'string' && sameText(part, whole);
  if (Array.isArray(part))
    return Array.isArray(whole) && part.every((item) => whole.some((other) => contains(other, item)));
  if (typeof part !== 'object' || part === null) return whole === part;
  if (typeof whole !== 'object' || whole === null) return false;
  return Object.entries(part).every(([key, value]) => contains((whole as Record<string, unknown>)[key], value));
}

/** The version in a header such as `compute 2.90`; empty without one. */
export function versionIn(header: unknown): string {
  const text = String(header ?? '');
  return text.slice(text.lastIndexOf(' ') + 1);
}

function versionOf({ headers }: IncomingMessage): string | undefined {
  return versionIn(headers['openstack-api-version']) || (headers['x-openstack-nova-api-version'] as string | undefined);
}

/** Whether a request is one that the rule speaks of. `body` is asked for only when the rule has one. */
export function matchesRequest(match: HttpMatch, req: IncomingMessage, body: () => unknown): boolean {
  const path = urlPath(req.url ?? '/');
  return (
    (match.method === undefined || match.method.toUpperCase() === req.method) &&
    (match.path === undefined || sameText(match.path, path)) &&
    (match.version === undefined || match.version === versionOf(req)) &&
    Object.entries(match.headers ?? {}).every(([name, expected]) =>
      sameText(expected, String(req.headers[name.toLowerCase()] ?? '')),
    ) &&
    (match.body === undefined || contains(body(), match.body))
  );
}
