import type { IncomingMessage } from 'node:http';
import type { Caller } from '@apistrata/compute-engine';

/**
 * Says who is calling; undefined when the request carries no valid token (answered 401). Throws IdentityUnavailable
 * (503) when that cannot be found out now.
 */
export interface Identity {
  (req: IncomingMessage): Caller | undefined | Promise<Caller | undefined>;
  /** Where a client gets a token, for `WWW-Authenticate`. */
  readonly uri?: string;
  /** Whether there is a project of this id; undefined when that cannot be found out. Left out: every id is believed. */
  readonly projectExists?: (projectId: string) => Promise<boolean | undefined>;
}

type Verdict = Caller | undefined;
type Lookup = (token: string) => Verdict | Promise<Verdict>;

/** Header values that can be tokens at all: visible ASCII. Anything else is never looked up or sent on. */
const TOKEN = /^[\x21-\x7e]+$/;

/**
 * An identity from the tokens of `X-Auth-Token` and, for calls that another service forwards, `X-Service-Token`,
 * whose roles become `serviceRoles`. A service token that is not valid makes the call one without valid token.
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
