import type { IncomingMessage } from 'node:http';

/** The properties that Express adds to a request. */
interface MountedRequest extends IncomingMessage {
  readonly originalUrl?: string;
  readonly baseUrl?: string;
}

/** Returns the full path of a request, including mount paths: percent-decoded, without the query string. */
export function requestPath(req: IncomingMessage): string {
  const url = (req as MountedRequest).originalUrl ?? req.url ?? '/';
  const queryStart = url.indexOf('?');
  const path = queryStart === -1 ? url : url.slice(0, queryStart);
  // Plain paths are not normalized, because this code runs for every request to the application.
  return path.includes('%') || path.charCodeAt(0) !== 47 ? normalizePath(path) : path;
}

/** Returns whether the middleware is mounted with `app.use('/some/path', ...)`. */
export function isMounted(req: IncomingMessage): boolean {
  return Boolean((req as MountedRequest).baseUrl);
}

/** Normalizes a path for comparison: removes the scheme and host of absolute URLs, and decodes percent-encoding. */
export function normalizePath(path: string): string {
  const pathOnly = path.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, '');
  try {
    return decodeURIComponent(pathOnly);
  } catch {
    // A path with malformed percent-encoding does not match any endpoint.
    return pathOnly;
  }
}
