import { createHash } from 'node:crypto';
import type { Caller } from '@apistrata/compute-engine';
import { checkOptions } from '@apistrata/compute-engine/api';
import { type ServiceCredentials, ServiceSession, type ServiceUser } from '@apistrata/compute-engine/catalogs';
import { ExpiringMap } from './expiring-map.js';
import { type Identity, identityByToken } from './identity.js';
import { IdentityClient } from './identity-client.js';

/**
 * How a token was looked up. `known` (valid) and `rejected` (invalid) are results from the cache, `requested` required
 * a request to the identity service, and `joined` shared another caller's request for the same token.
 */
export type IdentityLookup = 'known' | 'rejected' | 'requested' | 'joined';

/**
 * Options for `identityService()`, including the credentials with which it authenticates to the identity service. Times
 * are in milliseconds.
 */
export interface IdentityServiceOptions extends ServiceUser {
  /** URL of the identity service, with or without `/v3`. */
  readonly url: string;
  /** URL of the identity service for clients; 401 responses contain it. Default: `url`. */
  readonly publicUrl?: string;
  /** How long a valid token is cached. A revoked token remains accepted for at most this time. Default: 300,000. */
  readonly cacheMs?: number;
  /** How long an invalid token is cached. Default: 30,000. */
  readonly rejectedCacheMs?: number;
  /** The maximum number of valid tokens, and of invalid tokens, in the cache. Default: 10,000 of each. */
  readonly maxCached?: number;
  /** Timeout of each request to the identity service. Default: 5,000. */
  readonly timeoutMs?: number;
  /**
   * Maximum size of a response from the identity service. A larger response counts as an outage of the service.
   * Default: 1 MiB.
   */
  readonly maxResponseBytes?: number;
  readonly clock?: { now(): number };
  /** Called for each token lookup. It must not throw. */
  readonly onLookup?: (found: IdentityLookup) => void;
  /** Returns additional headers for a request to the identity service, such as the trace context. */
  readonly headers?: () => Readonly<Record<string, string>>;
}

const OPTION_KINDS: Readonly<
  Record<keyof IdentityServiceOptions, 'text' | 'secret' | 'number' | 'clock' | 'function'>
> = {
  url: 'text',
  publicUrl: 'text',
  username: 'text',
  password: 'secret',
  userDomainId: 'text',
  userDomainName: 'text',
  projectId: 'text',
  projectName: 'text',
  projectDomainId: 'text',
  projectDomainName: 'text',
  cacheMs: 'number',
  rejectedCacheMs: 'number',
  maxCached: 'number',
  timeoutMs: 'number',
  maxResponseBytes: 'number',
  clock: 'clock',
  onLookup: 'function',
  headers: 'function',
};

/**
 * Creates an identity function that validates tokens with an identity service (`GET /v3/auth/tokens`). Results are
 * cached by the token's hash, at most until the token expires; concurrent requests with the same token share one
 * lookup.
 *
 * @throws TypeError if an option is unknown, missing or of the wrong type
 */
export function identityService(options: IdentityServiceOptions): Identity {
  checkIdentityOptions(options);
  const { cacheMs = 300_000, rejectedCacheMs = 30_000, maxCached = 10_000, timeoutMs = 5_000 } = options;
  const { maxResponseBytes = 1024 * 1024, clock = Date, onLookup, headers } = options;
  const limits = { timeoutMs, maxResponseBytes, headers };
  const session = new ServiceSession(credentialsOf(options), { ...limits, now: () => clock.now() });
  const client = new IdentityClient(session, limits);
  const validTokens = new ExpiringMap<Caller>(maxCached);
  // Invalid tokens have a separate cache, so that a flood of them cannot evict valid tokens.
  const invalidTokens = new ExpiringMap<true>(maxCached);
  const pendingLookups = new Map<string, Promise<Caller | undefined>>();

  async function requestIdentity(token: string, hash: string): Promise<Caller | undefined> {
    const document = await client.validate(token);
    const now = clock.now();
    if (document && document.expiresAt > now) {
      validTokens.set(hash, document.caller, Math.min(document.expiresAt, now + cacheMs));
      return document.caller;
    }
    invalidTokens.set(hash, true, now + rejectedCacheMs);
    return undefined;
  }

  function lookup(token: string): Caller | undefined | Promise<Caller | undefined> {
    const hash = createHash('sha256').update(token).digest('base64');
    const now = clock.now();
    const cachedCaller = validTokens.get(hash, now);
    if (cachedCaller || invalidTokens.get(hash, now)) {
      onLookup?.(cachedCaller ? 'known' : 'rejected');
      return cachedCaller;
    }
    const pendingLookup = pendingLookups.get(hash);
    onLookup?.(pendingLookup ? 'joined' : 'requested');
    if (pendingLookup) return pendingLookup;
    const response = requestIdentity(token, hash).finally(() => pendingLookups.delete(hash));
    pendingLookups.set(hash, response);
    return response;
  }

  return Object.assign(identityByToken(lookup), {
    uri: options.publicUrl ?? options.url,
    projectExists: (projectId: string) => client.projectExists(projectId),
  });
}

function credentialsOf(options: IdentityServiceOptions): ServiceCredentials {
  const { url: authUrl, username, password, userDomainId, userDomainName } = options;
  const { projectId, projectName, projectDomainId, projectDomainName } = options;
  const user = { username, password, userDomainId, userDomainName };
  return { authUrl, ...user, projectId, projectName, projectDomainId, projectDomainName };
}

function checkIdentityOptions(options: IdentityServiceOptions): void {
  checkOptions('identityService()', options, OPTION_KINDS);
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const kind = OPTION_KINDS[name as keyof IdentityServiceOptions];
    if (kind === 'number' && !(Number.isFinite(value) && (value as number) >= 0)) {
      throw new TypeError(`identityService(): ${name} must be a non-negative number, not ${value}`);
    }
    if ((kind === 'text' || kind === 'secret') && (typeof value !== 'string' || value === '')) {
      throw new TypeError(`identityService(): ${name} must be a non-empty string`);
    }
    if (kind === 'function' && typeof value !== 'function') {
      throw new TypeError(`identityService(): ${name} must be a function`);
    }
  }
  for (const name of ['url', 'username', 'password'] as const) {
    if (options[name] === undefined) throw new TypeError(`identityService(): ${name} is missing`);
  }
  if (!/^https?:\/\//.test(options.url) || !URL.canParse(options.url)) {
    throw new TypeError('identityService(): url must be an HTTP or HTTPS URL, such as http://identity:5000/v3');
  }
}
