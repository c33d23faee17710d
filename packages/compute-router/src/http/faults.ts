import type { IncomingMessage, ServerResponse } from 'node:http';
import { DatabaseUnavailable, Refusal } from '@apistrata/compute-engine';
import { CatalogError, type CatalogErrorKind } from '@apistrata/compute-engine/catalogs';
import { computeFault, genericError, RequestError } from '@apistrata/microversion';
import { InvalidBody, InvalidQuery } from '@apistrata/microversion/router';
import { ComputeRouterError } from '../errors.js';
import { sendUnauthorized } from '../identity/index.js';
import { PolicyDenied } from '../policy/index.js';
import { Gone } from './gone.js';
import { RateLimitExceeded } from './rate-limited.js';
import { bodyMessage, queryMessage } from './validation-message.js';

/** The request carries no token that the identity service knows. */
export class Unauthorized extends ComputeRouterError<'UNAUTHORIZED'> {
  constructor(readonly uri: string) {
    super('UNAUTHORIZED', 'This request needs a valid token in X-Auth-Token.');
  }
}

/** What the caller reads of a failure nobody foresaw. */
const UNEXPECTED = 'Unexpected API Error. Please report this to the operators of this service.';

/** The longest text of a fault: some repeat what the caller sent. */
const LONGEST_MESSAGE = 4000;

/** How the kinds of catalog errors reach the caller of the compute API. */
const catalogStatuses: Readonly<Record<CatalogErrorKind, number>> = {
  'not-found': 404,
  conflict: 409,
  invalid: 400,
  forbidden: 403,
  'over-quota': 403,
  unavailable: 503,
};

/** Status and text of an error that callers may know of; undefined for anything else. */
function readable(error: unknown): { readonly status: number; readonly message: string } | undefined {
  if (error instanceof InvalidBody) return { status: 400, message: bodyMessage(error.issues, error.input) };
  if (error instanceof InvalidQuery) return { status: 400, message: queryMessage(error.problems) };
  if (error instanceof CatalogError) return { status: catalogStatuses[error.kind], message: error.message };
  const known = [RequestError, Refusal, PolicyDenied, Gone, DatabaseUnavailable, RateLimitExceeded].some(
    (kind) => error instanceof kind,
  );
  if (known) return error as Refusal;
  const { code, status, message } = error as { code?: unknown; status?: unknown; message?: unknown };
  return code === 'IDENTITY_UNAVAILABLE' && status === 503 ? { status, message: String(message) } : undefined;
}

/** Whether nothing is there at any version: the answer comes before the API's own form. */
const isUnknownPath = (error: unknown) => error instanceof RequestError && error.code === 'NO_ROUTE';

export interface FaultOptions {
  /** Told of errors that became a 500, and of trouble with the database: their callers do not hear the cause. */
  readonly onUnexpected: (error: unknown, req: IncomingMessage) => void;
}

/** Makes the one place where errors become answers. */
export function faultRenderer({ onUnexpected }: FaultOptions) {
  return function renderFault(error: unknown, req: IncomingMessage, res: ServerResponse): void {
    if (error instanceof Unauthorized) {
      sendUnauthorized(res, error.uri);
      return;
    }
    const known = readable(error);
    const databaseTrouble = error instanceof DatabaseUnavailable;
    if (!known || databaseTrouble) onUnexpected(error, req);
    const { status, message } = known ?? {
      status: 500,
      message: `${UNEXPECTED}\n${(error as Error)?.constructor?.name ?? 'Error'}`,
    };
    const retryAfterSeconds =
      databaseTrouble || error instanceof RateLimitExceeded ? error.retryAfterSeconds : undefined;
    const fault = { status, message: message.slice(0, LONGEST_MESSAGE), retryAfterSeconds };
    const { contentType, body } = isUnknownPath(error) ? genericError(fault, req) : computeFault(fault);
    // A body that was not read to its end would be taken for the next request.
    if (fault.status === 413) res.setHeader('Connection', 'close');
    if (retryAfterSeconds !== undefined) res.setHeader('Retry-After', retryAfterSeconds);
    res.statusCode = fault.status;
    res.setHeader('Content-Type', contentType);
    res.setHeader('Content-Length', Buffer.byteLength(body));
    res.end(body);
  };
}
