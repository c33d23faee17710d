import type { IncomingMessage } from 'node:http';
import { urlPath } from '../url-path.js';

/** A regular expression, or another object with the same `test` method. */
export type TextPattern = Pick<RegExp, 'source' | 'flags' | 'test'>;

/** The conditions of a rule; all must match. Strings must match completely; `path` excludes the query string. */
export interface HttpMatch {
  readonly method?: string;
  /** Path from the root of the cloud, such as `/compute/v2.1/servers`. */
  readonly path?: string | TextPattern;
  /** The microversion that the request selects. */
  readonly version?: string;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string | TextPattern>>;
  /** A part of the JSON body: `{ server: { name: 'web' } }`. Values may be patterns. */
  readonly body?: unknown;
}

/** The effect of a rule. If it is empty, the request is forwarded unchanged. */
export interface HttpEffect {
  /** Delay in milliseconds, by the clock of the cloud. */
  readonly delayMs?: number;
  readonly status?: number;
  /** JSON of the response; default: an error that states that it was scripted. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Closes the connection instead of sending a response. */
  readonly drop?: true;
  /** Executes the request first, and then sends the scripted response: the client cannot know that it was executed. */
  readonly apply?: true;
}

/** A scripted effect on HTTP requests. */
export interface HttpRule extends HttpEffect {
  readonly match: HttpMatch;
  /** The first matching request that the rule applies to, counted from 1. */
  readonly fromCall?: number;
  /** The maximum number of requests that the rule applies to. */
  readonly times?: number;
  /** Effects of consecutive matching requests; afterwards the rule has no effect. */
  readonly sequence?: readonly HttpEffect[];
}

function matchesText(pattern: string | TextPattern, text: string): boolean {
  if (typeof pattern === 'string') return pattern === text;
  if (!(pattern instanceof RegExp)) return pattern.test(text);
  // With the flags `g` and `y`, a RegExp keeps state between calls.
  return new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, '')).test(text);
}

/** Returns whether `full` contains everything in `part`. */
function contains(full: unknown, part: unknown): boolean {
  if (part instanceof RegExp) return typeof full === 'string' && matchesText(part, full);
  if (Array.isArray(part))
    return Array.isArray(full) && part.every((item) => full.some((other) => contains(other, item)));
  if (typeof part !== 'object' || part === null) return full === part;
  if (typeof full !== 'object' || full === null) return false;
  return Object.entries(part).every(([key, value]) => contains((full as Record<string, unknown>)[key], value));
}

/** Returns the version in a header such as `compute 2.90`; empty without one. */
export function versionIn(header: unknown): string {
  const text = String(header ?? '');
  return text.slice(text.lastIndexOf(' ') + 1);
}

function versionOf({ headers }: IncomingMessage): string | undefined {
  return versionIn(headers['openstack-api-version']) || (headers['x-openstack-nova-api-version'] as string | undefined);
}

/** Returns whether a request matches. `body` is called only if the rule has a body. */
export function matchesRequest(match: HttpMatch, req: IncomingMessage, body: () => unknown): boolean {
  const path = urlPath(req.url ?? '/');
  return (
    (match.method === undefined || match.method.toUpperCase() === req.method) &&
    (match.path === undefined || matchesText(match.path, path)) &&
    (match.version === undefined || match.version === versionOf(req)) &&
    Object.entries(match.headers ?? {}).every(([name, expected]) =>
      matchesText(expected, String(req.headers[name.toLowerCase()] ?? '')),
    ) &&
    (match.body === undefined || contains(body(), match.body))
  );
}
