import type { IncomingMessage, ServerResponse } from 'node:http';
import { DatabaseUnavailable, Rejection } from '@apistrata/compute-engine';
import { CatalogError, type CatalogErrorKind } from '@apistrata/compute-engine/catalogs';
import { computeFault, genericError, RequestError } from '@apistrata/microversion';
import { InvalidBody, InvalidQuery } from '@apistrata/microversion-router';
import { ComputeRouterError } from '../errors.js';
import { sendUnauthorized } from '../identity/index.js';
import { PolicyDenied } from '../policy/index.js';
import { GoneError } from './gone-error.js';
import { RateLimitExceeded } from './rate-limited.js';
import { bodyMessage, queryMessage } from './validation-message.js';

/** Thrown if a request does not contain a valid token; the response is a 401. */
export class Unauthorized extends ComputeRouterError<'UNAUTHORIZED'> {
  constructor(readonly uri: string) {
    super('UNAUTHORIZED', 'This request needs a valid token in X-Auth-Token.');
  }
}

/** The message in the response after an unexpected error. */
const UNEXPECTED_ERROR_MESSAGE = 'Unexpected API Error. Please report this to the operators of this service.';

/** The maximum length of a fault's message. It is limited because some messages repeat request input. */
const MAX_MESSAGE_LENGTH = 4000;

/** The HTTP status for each kind of catalog error. */
const statusByCatalogError: Readonly<Record<CatalogErrorKind, number>> = {
  'not-found': 404,
  conflict: 409,
  invalid: 400,
  forbidden: 403,
  'over-quota': 403,
  unavailable: 503,
};

/** Returns an error's status and message if clients may see its message, otherwise undefined. */
function visibleFault(error: unknown): { readonly status: number; readonly message: string } | undefined {
  if (error instanceof InvalidBody) return { status: 400, message: bodyMessage(error.issues, error.input) };
  if (error instanceof InvalidQuery) return { status: 400, message: queryMessage(error.problems) };
  if (error instanceof CatalogError) return { status: statusByCatalogError[error.kind], message: error.message };
  const isExpected = [RequestError, Rejection, PolicyDenied, GoneError, DatabaseUnavailable, RateLimitExceeded].some(
    (kind) => error instanceof kind,
  );
  if (isExpected) return error as Rejection;
  const { code, status, message } = error as { code?: unknown; status?: unknown; message?: unknown };
  return code === 'IDENTITY_UNAVAILABLE' && status === 503 ? { status, message: String(message) } : undefined;
}

/** Returns whether the error means that the path is unknown, in which case the response is not a compute API fault. */
const isUnknownPath = (error: unknown) => error instanceof RequestError && error.code === 'NO_ROUTE';

export interface FaultOptions {
  /**
   * Called with errors that cause a 500 response, and with database failures, because responses do not contain their
   * cause.
   */
  readonly onUnexpected: (error: unknown, req: IncomingMessage) => void;
}

/** Creates the function that converts any error to a response. */
export function faultRenderer({ onUnexpected }: FaultOptions) {
  return function renderFault(error: unknown, req: IncomingMessage, res: ServerResponse): void {
    if (error instanceof Unauthorized) {
      sendUnauthorized(res, error.uri);
      return;
    }
    const visibleError = visibleFault(error);
    const databaseFailure = error instanceof DatabaseUnavailable;
    if (!visibleError || databaseFailure) onUnexpected(error, req);
    const { status, message } = visibleError ?? {
      status: 500,
      message: `${UNEXPECTED_ERROR_MESSAGE}\n${(error as Error)?.constructor?.name ?? 'Error'}`,
    };
    const retryAfterSeconds =
      databaseFailure || error instanceof RateLimitExceeded ? error.retryAfterSeconds : undefined;
    const fault = { status, message: message.slice(0, MAX_MESSAGE_LENGTH), retryAfterSeconds };
    const { contentType, body } = isUnknownPath(error) ? genericError(fault, req) : computeFault(fault);
    // On an open connection, the unread rest of the body would be parsed as the next request.
    if (fault.status === 413) res.setHeader('Connection', 'close');
    if (retryAfterSeconds !== undefined) res.setHeader('Retry-After', retryAfterSeconds);
    res.statusCode = fault.status;
    res.setHeader('Content-Type', contentType);
    res.setHeader('Content-Length', Buffer.byteLength(body));
    res.end(body);
  };
}
