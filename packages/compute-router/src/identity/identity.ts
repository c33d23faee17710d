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

type LookupResult = Caller | undefined;
type Lookup = (token: string) => LookupResult | Promise<LookupResult>;

/** Header values that can be tokens: visible ASCII. Other values are never looked up or forwarded. */
const TOKEN = /^[\x21-\x7e]+$/;

/** Types of this service in the service catalog, as specified in the access rules of application credentials. */
const SERVICE_TYPES = ['compute'];

/**
 * Creates an identity that looks up the token in `X-Auth-Token` and, in requests that another service forwards, the
 * token in `X-Service-Token`, whose roles become `serviceRoles`. A request is unauthenticated if one of its tokens is not
 * valid, or if the access rules of the caller do not allow it.
 */
export function identityByToken(lookup: Lookup): (req: IncomingMessage) => LookupResult | Promise<LookupResult> {
  return function identity(req) {
    const token = req.headers['x-auth-token'];
    if (typeof token !== 'string' || !TOKEN.test(token)) return undefined;
    const service = req.headers['x-service-token'];
    if (service === undefined) {
      const caller = lookup(token);
      return caller instanceof Promise ? caller.then((found) => ifAllowed(req, found)) : ifAllowed(req, caller);
    }
    if (typeof service !== 'string' || !TOKEN.test(service)) return undefined;
    const results = [lookup(token), lookup(service)] as const;
    if (results[0] instanceof Promise || results[1] instanceof Promise) {
      return Promise.all(results).then(([user, forwarder]) => ifAllowed(req, withService(user, forwarder)));
    }
    return ifAllowed(req, withService(results[0], results[1]));
  };
}

function withService(user: LookupResult, forwarder: LookupResult): LookupResult {
  return user && forwarder && { ...user, serviceRoles: forwarder.roles };
}

/** Returns the caller if its access rules allow the request. */
function ifAllowed(req: IncomingMessage & { readonly originalUrl?: string }, caller: LookupResult): LookupResult {
  if (!caller?.accessRules) return caller;
  const paths = [urlPath({ url: req.originalUrl ?? req.url }), urlPath(req)];
  return mayRequest(caller, SERVICE_TYPES, req.method, paths) ? caller : undefined;
}
