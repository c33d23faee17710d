import type { IncomingMessage } from 'node:http';
import { checkOptions } from '../check-options.js';
import { QuotaError } from '../errors.js';

/** The caller of a request. */
export interface Identity {
  /** The id of the caller's project. Opaque and case-sensitive. */
  readonly projectId: string;
  /** The names of the caller's roles. Case-insensitive. */
  readonly roles: readonly string[];
  readonly userId?: string;
}

/**
 * Returns the caller of a request, or undefined to reject it with 401. For another status, the function throws an
 * IdentityError.
 */
export type IdentityOf = (req: IncomingMessage) => Identity | undefined | PromiseLike<Identity | undefined>;

/** The error of a request whose caller cannot be determined. The client receives its `message`. */
export class IdentityError extends QuotaError {
  /** @param headers additional response headers, such as `{ 'Retry-After': '5' }` */
  constructor(
    status: 400 | 401 | 403 | 429 | 503,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super('IDENTITY_UNKNOWN', message, { status });
  }
}

/** Options for `headerIdentity()`. */
export interface HeaderIdentityOptions {
  /**
   * Whether the header `X-Identity-Status: Confirmed` is required, which authenticating proxies set. Default true. If false, every
   * client that reaches the service can claim any identity.
   */
  readonly confirmed?: boolean;
}

/**
 * Returns a function that reads the identity from `X-Project-Id`, `X-Roles` (comma-separated; if missing, `admin` with
 * `confirmed: false`, otherwise no roles) and `X-User-Id`.
 *
 * Use it only behind a proxy that authenticates clients and removes these headers from their requests: a client that
 * bypasses the proxy can claim any identity.
 */
export function headerIdentity(options: HeaderIdentityOptions = {}): IdentityOf {
  checkOptions('headerIdentity', options, { confirmed: true });
  const { confirmed = true } = options;

  return function identityFromHeaders(req) {
    if (confirmed && req.headers['x-identity-status'] !== 'Confirmed') return undefined;
    const projectId = headerText(req, 'x-project-id');
    if (!projectId) throw new IdentityError(400, 'Missing X-Project-Id');
    const roles = headerText(req, 'x-roles')
      .split(',')
      .map((role) => role.trim())
      .filter(Boolean);
    // If the proxy has confirmed the identity, an empty list means that the caller has no roles.
    if (!confirmed && roles.length === 0) roles.push('admin');
    return { projectId, roles, userId: headerText(req, 'x-user-id') || undefined };
  };
}

/** Returns a header value as text. Node decodes headers as Latin-1, but clients send ids with other characters as UTF-8. */
function headerText(req: IncomingMessage, name: string): string {
  const latin1Text = String(req.headers[name] ?? '').trim();
  const utf8Text = Buffer.from(latin1Text, 'latin1').toString('utf8');
  return utf8Text.includes('\ufffd') ? latin1Text : utf8Text;
}
