import type { IncomingMessage } from 'node:http';

/** Express sets these two; a bare request has neither. */
interface MountedRequest extends IncomingMessage {
  readonly originalUrl?: string;
  readonly baseUrl?: string;
}

/** The full path of a request, however deep the middleware is mounted: no query, percent-encoding undone. */
export function requestPath(req: IncomingMessage): string {
  const url = (req as MountedRequest).originalUrl ?? req.url ?? '/';
  const query = url.indexOf('?');
  const path = query === -1 ? url : url.slice(0, query);
  // Only these few need more work; this line runs for every request of the application.
  return path.includes('%') || path.charCodeAt(0) !== 47 ? normalPath(path) : path;
}

/** True where `app.use('/some/path', ...)` gave the middleware a part of the tree of its own. */
export function isMounted(req: IncomingMessage): boolean {
  return Boolean((req as MountedRequest).baseUrl);
}

/** A path as it is compared: absolute-form targets lose scheme and host, percent-encoding is undone. */
export function normalPath(path: string): string {
  const local = path.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, '');
  try {
    return decodeURIComponent(local);
  } catch {
    // Not UTF-8 behind the percent signs: then it is nobody's path, as it stands.
    return local;
  }
}
