import type { IncomingMessage } from 'node:http';
import type { Caller } from '@apistrata/compute-engine';
import { mayRequest } from '@apistrata/compute-engine/catalogs';
import { urlPath } from '../http/url-path.js';

/**
 * Identifies the caller of a request. Returns undefined if the request has no valid token (401).
 *
 * @throws IdentityUnavailable (503) if the caller cannot be identified now
 */
export interface Identity {
  (req: IncomingMessage): Caller | undefined | Promise<Caller | undefined>;
  /** URL of the service that issues tokens, for `WWW-Authenticate`. */
  readonly uri?: string;
  /** Returns whether a project exists; undefined if the service is unavailable. Default: every id is accepted. */
  readonly projectExists?: (projectId: string) => Promise<boolean | undefined>;
}

type Verdict = Caller | undefined;
type Lookup = (token: string) => Verdict | Promise<Verdict>;

/** Header values that can be tokens: visible ASCII. Other values are never looked up or forwarded. */
const TOKEN = /^[\x21-\x7e]+$/;

/** Types of this service in the service catalog, as specified in the access rules of application credentials. */
const SERVICE_TYPES = ['compute'];

/**
 * Creates an identity that looks up the token in `X-Auth-Token` and, in requests that another service forwards, the
 * token in `X-Service-Token`, whose roles become `serviceRoles`. A request is unauthenticated if one of its tokens is not
 * valid, or if the access rules of the caller do not allow it.
 */
export function identityByToken(lookup: Lookup): (req: IncomingMessage) => Verdict | Promise<Verdict> {
  return function identity(req) {
    const token = req.headers['x-auth-token'];
    if (typeof token !== 'string' || !TOKEN.test(token)) return undefined;
    const service = req.headers['x-service-token'];
    if (service === undefined) {
      const caller = lookup(token);
      return caller instanceof Promise ? caller.then((found) => allowed(req, found)) : allowed(req, caller);
    }
    if (typeof service !== 'string' || !TOKEN.test(service)) return undefined;
    const verdicts = [lookup(token), lookup(service)] as const;
    if (verdicts[0] instanceof Promise || verdicts[1] instanceof Promise) {
      return Promise.all(verdicts).then(([user, forwarder]) => allowed(req, withService(user, forwarder)));
    }
    return allowed(req, withService(verdicts[0], verdicts[1]));
  };
}

function withService(user: Verdict, forwarder: Verdict): Verdict {
  return user && forwarder && { ...user, serviceRoles: forwarder.roles };
}

/** Returns the caller if its access rules allow the request. */
function allowed(req: IncomingMessage & { readonly originalUrl?: string }, caller: Verdict): Verdict {
  if (!caller?.accessRules) return caller;
  const paths = [urlPath({ url: req.originalUrl ?? req.url }), urlPath(req)];
  return mayRequest(caller, SERVICE_TYPES, req.method, paths) ? caller : undefined;
}
