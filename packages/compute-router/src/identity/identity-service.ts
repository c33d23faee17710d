import { createHash } from 'node:crypto';
import type { Caller } from '@apistrata/compute-engine';
import { checkOptions } from '@apistrata/compute-engine/api';
import { type ServiceCredentials, ServiceSession, type ServiceUser } from '@apistrata/compute-engine/catalogs';
import { ExpiringMap } from './expiring-map.js';
import { type Identity, identityByToken } from './identity.js';
import { IdentityClient } from './identity-client.js';

/**
 * How a token was found out about: `known` and `refused` are remembered from before, `asked` had to be asked for, `joined`
 * waited for the same question of another request.
 */
export type IdentityLookup = 'known' | 'refused' | 'asked' | 'joined';

/** Where the identity service is, and as whom it is asked. Times in milliseconds. */
export interface IdentityServiceOptions extends ServiceUser {
  /** Address of the identity service, with or without `/v3`. */
  readonly url: string;
  /** Address that clients are told to get tokens from; default `url`. */
  readonly publicUrl?: string;
  /** How long a valid token is believed without asking again, and so how late a revocation shows. Default 300,000. */
  readonly cacheMs?: number;
  /** The same for tokens that are not valid. Default 30,000. */
  readonly rejectedCacheMs?: number;
  /** How many valid tokens are remembered, and how many others. Default 10,000. */
  readonly maxCached?: number;
  /** For each request to the identity service. Default 5,000. */
  readonly timeoutMs?: number;
  /** How long an answer of the identity service may be; a longer one counts as none. Default 1 MiB. */
  readonly maxAnswerBytes?: number;
  readonly clock?: { now(): number };
  /** Told of each token that is looked up; it throws nothing. */
  readonly onLookup?: (found: IdentityLookup) => void;
  /** Headers of every request to the identity service: those of a trace, for one. */
  readonly headers?: () => Readonly<Record<string, string>>;
}

const OPTIONS: Readonly<Record<keyof IdentityServiceOptions, 'text' | 'secret' | 'number' | 'clock' | 'function'>> = {
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
  maxAnswerBytes: 'number',
  clock: 'clock',
  onLookup: 'function',
  headers: 'function',
};

/**
 * Knows callers by asking an identity service over HTTP (`GET /v3/auth/tokens`). Answers are remembered by the hash of the
 * token, never beyond its expiry; many requests with one token make one question.
 *
 * @throws TypeError for options that are unknown, missing or of a wrong kind
 */
export function identityService(options: IdentityServiceOptions): Identity {
  checkIdentityOptions(options);
  const { cacheMs = 300_000, rejectedCacheMs = 30_000, maxCached = 10_000, timeoutMs = 5_000 } = options;
  const { maxAnswerBytes = 1024 * 1024, clock = Date, onLookup, headers } = options;
  const limits = { timeoutMs, maxAnswerBytes, headers };
  const session = new ServiceSession(credentialsOf(options), { ...limits, now: () => clock.now() });
  const client = new IdentityClient(session, limits);
  const valid = new ExpiringMap<Caller>(maxCached);
  // Apart from the valid ones, or a flood of nonsense would push those out.
  const rejected = new ExpiringMap<true>(maxCached);
  const underway = new Map<string, Promise<Caller | undefined>>();

  async function ask(token: string, hash: string): Promise<Caller | undefined> {
    const document = await client.validate(token);
    const now = clock.now();
    if (document && document.expiresAt > now) {
      valid.set(hash, document.caller, Math.min(document.expiresAt, now + cacheMs));
      return document.caller;
    }
    rejected.set(hash, true, now + rejectedCacheMs);
    return undefined;
  }

  function lookup(token: string): Caller | undefined | Promise<Caller | undefined> {
    const hash = createHash('sha256').update(token).digest('base64');
    const now = clock.now();
    const known = valid.get(hash, now);
    if (known || rejected.get(hash, now)) {
      onLookup?.(known ? 'known' : 'refused');
      return known;
    }
    const pending = underway.get(hash);
    onLookup?.(pending ? 'joined' : 'asked');
    if (pending) return pending;
    const answer = ask(token, hash).finally(() => underway.delete(hash));
    underway.set(hash, answer);
    return answer;
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
  checkOptions('identityService()', options, OPTIONS);
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const kind = OPTIONS[name as keyof IdentityServiceOptions];
    if (kind === 'number' && !(Number.isFinite(value) && (value as number) >= 0)) {
      throw new TypeError(`identityService(): ${name} must be a number from 0, not ${value}`);
    }
    if ((kind === 'text' || kind === 'secret') && (typeof value !== 'string' || value === '')) {
      throw new TypeError(`identityService(): ${name} must be a text that is not empty`);
    }
    if (kind === 'function' && typeof value !== 'function') {
      throw new TypeError(`identityService(): ${name} must be a function`);
    }
  }
  for (const name of ['url', 'username', 'password'] as const) {
    if (options[name] === undefined) throw new TypeError(`identityService(): ${name} is missing`);
  }
  if (!/^https?:\/\//.test(options.url) || !URL.canParse(options.url)) {
    throw new TypeError('identityService(): url must be like http://identity:5000/v3');
  }
}
