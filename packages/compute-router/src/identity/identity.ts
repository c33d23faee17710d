import type { IncomingMessage } from 'node:http';
import type { Caller } from '@apistrata/compute-engine';

/**
 * Identifies the caller of a request; undefined if the request has no valid token (401).
 *
 * @throws IdentityUnavailable (503) if the caller cannot be identified now
 */
export interface Identity {
  (req: IncomingMessage): Caller | undefined | Promise<Caller | undefined>;
  /** URL where clients get tokens, for `WWW-Authenticate`. */
  readonly uri?: string;
  /** Returns whether a project exists; undefined if that is unknown now. Default: every id is accepted. */
  readonly projectExists?: (projectId: string) => Promise<boolean | undefined>;
}

type Verdict = Caller | undefined;
type Lookup = (token: string) => Verdict | Promise<Verdict>;

/** Header values that can be tokens: visible ASCII. Other values are never looked up or forwarded. */
const TOKEN = /^[\x21-\x7e]+$/;

/**
 * Creates an identity from the token in `X-Auth-Token` and, for requests that another service forwards, the token in
 * `X-Service-Token`, whose roles become `serviceRoles`. An invalid service token makes the whole request
 * unauthenticated.
 */
export function identityByToken(lookup: Lookup): (req: IncomingMessage) => Verdict | Promise<Verdict> {
  return function identity(req) {
    const token = req.headers['x-auth-token'];
    if (typeof token !== 'string' || !TOKEN.test(token)) return undefined;
    const service = req.headers['x-service-token'];
    if (service === undefined) return lookup(token);
    if (typeof service !== 'string' || !TOKEN.test(service)) return undefined;
    const verdicts = [lookup(token), lookup(service)] as const;
    if (verdicts[0] instanceof Promise || verdicts[1] instanceof Promise) {
      return Promise.all(verdicts).then(([user, forwarder]) => withService(user, forwarder));
    }
    return withService(verdicts[0], verdicts[1]);
  };
}

function withService(user: Verdict, forwarder: Verdict): Verdict {
  return user && forwarder && { ...user, serviceRoles: forwarder.roles };
}
