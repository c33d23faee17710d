import type { IncomingMessage } from 'node:http';
import { checkOptions } from '../check-options.js';
import { QuotaError } from '../errors.js';

/** Who sends a request. */
export interface Identity {
  /** Opaque and case-sensitive. */
  readonly projectId: string;
  /** Compared without regard to case. */
  readonly roles: readonly string[];
  readonly userId?: string;
}

/** Tells who sends a request. Undefined means nobody: 401. Throw an IdentityError to answer otherwise. */
export type IdentityOf = (req: IncomingMessage) => Identity | undefined | PromiseLike<Identity | undefined>;

/** A request whose sender cannot be told; `message` is for the client. */
export class IdentityError extends QuotaError {
  /** @param headers what the answer says besides, `{ 'Retry-After': '5' }` */
  constructor(
    status: 400 | 401 | 403 | 503,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super('IDENTITY_UNKNOWN', message, { status });
  }
}

/** How far headers of an authenticating proxy are believed. */
export interface HeaderIdentityOptions {
  /**
   * Whether `X-Identity-Status: Confirmed` is needed, as authenticating proxies set it. Default true. Without it,
   * whoever reaches the service is believed.
   */
  readonly confirmed?: boolean;
}

/**
 * Identity from `X-Project-Id`, `X-Roles` (comma-separated; none is `admin` with `confirmed: false`, and none otherwise)
 * and `X-User-Id`.
 *
 * Only behind a proxy that authenticates and removes these headers from what clients send: anybody who can reach the
 * service past it can be anybody.
 */
export function headerIdentity(options: HeaderIdentityOptions = {}): IdentityOf {
  checkOptions('headerIdentity', options, { confirmed: true });
  const { confirmed = true } = options;

  return function identityFromHeaders(req) {
    if (confirmed && req.headers['x-identity-status'] !== 'Confirmed') return undefined;
    const projectId = textOf(req, 'x-project-id');
    if (!projectId) throw new IdentityError(400, 'Missing X-Project-Id');
    const roles = textOf(req, 'x-roles')
      .split(',')
      .map((role) => role.trim())
      .filter(Boolean);
    // A token that was checked says all there is to say: without roles it may nothing that needs one.
    if (!confirmed && roles.length === 0) roles.push('admin');
    return { projectId, roles, userId: textOf(req, 'x-user-id') || undefined };
  };
}

/** Node reads header bytes as Latin-1; ids beyond ASCII come as UTF-8, as they do in paths. */
function textOf(req: IncomingMessage, name: string): string {
  const latin1 = String(req.headers[name] ?? '').trim();
  const utf8 = Buffer.from(latin1, 'latin1').toString('utf8');
  return utf8.includes('\ufffd') ? latin1 : utf8;
}
