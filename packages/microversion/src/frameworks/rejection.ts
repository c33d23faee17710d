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

/** Returns the response to an error. @throws the error itself, if it is for the error handlers of the application */
export function rejectionOf({ error, render }: ErrorToSend, req: IncomingMessage): Rejection {
  const rendered = render(error, req);
  if (!rendered) throw error;
  return { status: error.status, ...rendered };
}

/** Negotiates a request; resolves to the response if it is rejected. Rejects with errors for the application. */
export async function negotiated(
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

/** @throws TypeError if the version is in the path, which a framework reads before its middleware runs */
export function requireUnchangedPath({ pathSource }: VersionMiddleware, factory: string, fix: string): void {
  if (pathSource !== undefined)
    throw new TypeError(
      `${factory}: the routes are selected before the version is removed from the path (${pathSource}); ${fix}`,
    );
}
