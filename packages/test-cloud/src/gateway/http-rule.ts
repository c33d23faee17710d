import type { IncomingMessage } from 'node:http';
import { urlPath } from '../url-path.js';

/** A regular expression, or another object with a `test()` method. */
export type TextPattern = Pick<RegExp, 'source' | 'flags' | 'test'>;

/** The conditions of a rule, which must all match. Strings must match completely; `path` excludes the query string. */
export interface HttpMatch {
  readonly method?: string;
  /** The path below the cloud's URL, such as `/compute/v2.1/servers`. */
  readonly path?: string | TextPattern;
  /** The microversion that the request selects. */
  readonly version?: string;
  /** Request headers, with names in lower case. */
  readonly headers?: Readonly<Record<string, string | TextPattern>>;
  /** Fields that the JSON body must contain: `{ server: { name: 'web' } }`. Values may be patterns. */
  readonly body?: unknown;
}

/** The effect of a rule on a request. If no field is set, the service handles the request as usual. */
export interface HttpEffect {
  /** The delay in milliseconds, measured by the cloud's clock. */
  readonly delayMs?: number;
  readonly status?: number;
  /** The JSON body of the response; default: an error whose message names the rule as the cause. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the connection is closed without a response. */
  readonly drop?: true;
  /** Whether the service executes the request although the client receives only the scripted response. */
  readonly apply?: true;
}

/** A rule that changes, delays or drops the responses to HTTP requests. */
export interface HttpRule extends HttpEffect {
  readonly match: HttpMatch;
  /** The first matching request to which the rule applies, counted from 1. */
  readonly fromCall?: number;
  /** The maximum number of requests to which the rule applies. */
  readonly times?: number;
  /** The effects on consecutive matching requests. The rule has no effect on later requests. */
  readonly sequence?: readonly HttpEffect[];
}

function matchesText(pattern: string | TextPattern, text: string): boolean {
  if (typeof pattern === 'string') return pattern === text;
  if (!(pattern instanceof RegExp)) return pattern.test(text);
  // With the flag `g` or `y`, the next `test()` call would start at the end of the previous match.
  return new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, '')).test(text);
}

/** Returns whether a JSON value contains all fields of another one, recursively. */
function containsFields(actual: unknown, expected: unknown): boolean {
  if (expected instanceof RegExp) return typeof actual === 'string' && matchesText(expected, actual);
  if (Array.isArray(expected))
    return Array.isArray(actual) && expected.every((item) => actual.some((other) => containsFields(other, item)));
  if (typeof expected !== 'object' || expected === null) return actual === expected;
  if (typeof actual !== 'object' || actual === null) return false;
  return Object.entries(expected).every(([key, value]) =>
    containsFields((actual as Record<string, unknown>)[key], value),
  );
}

/** Returns the version in a header such as `compute 2.90`; '' without a version. */
export function versionInHeader(header: unknown): string {
  const text = String(header ?? '');
  return text.slice(text.lastIndexOf(' ') + 1);
}

function versionOf({ headers }: IncomingMessage): string | undefined {
  return (
    versionInHeader(headers['openstack-api-version']) || (headers['x-openstack-nova-api-version'] as string | undefined)
  );
}

/** Returns whether a request meets a rule's conditions. Calls `body` only if a condition concerns the body. */
export function matchesRequest(match: HttpMatch, req: IncomingMessage, body: () => unknown): boolean {
  const path = urlPath(req.url ?? '/');
  return (
    (match.method === undefined || match.method.toUpperCase() === req.method) &&
    (match.path === undefined || matchesText(match.path, path)) &&
    (match.version === undefined || match.version === versionOf(req)) &&
    Object.entries(match.headers ?? {}).every(([name, expected]) =>
      matchesText(expected, String(req.headers[name.toLowerCase()] ?? '')),
    ) &&
    (match.body === undefined || containsFields(body(), match.body))
  );
}
