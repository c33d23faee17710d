import type { IncomingMessage } from 'node:http';

/** Express sets these two; a bare request has neither. */
interface MountedRequest extends IncomingMessage {
  readonly originalUrl?: string;
  readonly baseUrl?: string;
}

/** Returns the full path of a request, regardless of mounts: without query string, percent-decoded. */
export function requestPath(req: IncomingMessage): string {
  const url = (req as MountedRequest).originalUrl ?? req.url ?? '/';
  const query = url.indexOf('?');
  const path = query === -1 ? url : url.slice(0, query);
  // Fast path: this line runs for every request of the application.
  return path.includes('%') || path.charCodeAt(0) !== 47 ? normalPath(path) : path;
}

/** Returns true if the middleware is mounted with `app.use('/some/path', ...)`. */
export function isMounted(req: IncomingMessage): boolean {
  return Boolean((req as MountedRequest).baseUrl);
}

/** Normalizes a path for comparison: removes scheme and host of absolute-form targets, and decodes percent-encoding. */
export function normalPath(path: string): string {
  const local = path.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, '');
  try {
    return decodeURIComponent(local);
  } catch {
    // Malformed percent-encoding matches no endpoint.
    return local;
  }
}
