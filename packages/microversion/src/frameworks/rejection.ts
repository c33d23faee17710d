import type { IncomingMessage, ServerResponse } from 'node:http';
import { RequestError } from '../errors.js';
import type { ErrorToSend } from '../negotiation/error-response.js';
import type { VersionMiddleware } from '../negotiation/version-middleware.js';

/** The response to a rejected request, in a form that every framework can send. */
export interface Rejection {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** Returns the response for an error. @throws the error itself, if the application's error handlers should handle it */
export function rejectionOf({ error, render }: ErrorToSend, req: IncomingMessage): Rejection {
  const renderedBody = render(error, req);
  if (!renderedBody) throw error;
  return { status: error.status, ...renderedBody };
}

/**
 * Negotiates the version of a request. Resolves to a response if the request is rejected, otherwise to undefined. The
 * promise rejects with errors that the application should handle.
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
 * Rejects middleware that removes the version from the path: some frameworks select the route before middleware runs.
 *
 * @throws TypeError if the middleware reads the version from the path
 */
export function requireUnchangedPath({ pathSource }: VersionMiddleware, factory: string, fix: string): void {
  if (pathSource !== undefined)
    throw new TypeError(
      `${factory}: the routes are selected before the version is removed from the path (${pathSource}); ${fix}`,
    );
}
