import type { IncomingMessage, ServerResponse } from 'node:http';
import { RequestError } from '../errors.js';
import type { ErrorToSend } from '../negotiation/error-response.js';
import type { VersionMiddleware } from '../negotiation/version-middleware.js';

/** A response to a rejected request, which a framework sends in its own way. */
export interface Rejection {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** Returns the response to an error. @throws the error itself, if the error handlers of the application handle it */
export function rejectionOf({ error, render }: ErrorToSend, req: IncomingMessage): Rejection {
  const rendered = render(error, req);
  if (!rendered) throw error;
  return { status: error.status, ...rendered };
}

/**
 * Negotiates the version of a request. Resolves to the response if the request is rejected, otherwise to undefined.
 * Rejects with errors that the application handles.
 */
export async function negotiateVersion(
  versions: VersionMiddleware,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<Rejection | undefined> {
  try {
    await versions.negotiate(req, res);
    return undefined;
  } catch (error) {
    if (error instanceof RequestError) return rejectionOf({ error, render: versions.errorBody }, req);
    throw error;
  }
}

/**
 * Rejects middleware that removes the version from the path, for frameworks that select the route before middleware runs.
 *
 * @throws TypeError if the middleware has such a source of versions
 */
export function requireUnchangedPath({ pathSource }: VersionMiddleware, factory: string, fix: string): void {
  if (pathSource !== undefined)
    throw new TypeError(
      `${factory}: the routes are selected before the version is removed from the path (${pathSource}); ${fix}`,
    );
}
