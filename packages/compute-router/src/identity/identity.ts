import type { IncomingMessage } from 'node:http';
import type { Caller } from '@apistrata/compute-engine';
import { isAllowedByAccessRules } from '@apistrata/compute-engine/catalogs';
import { urlPath } from '../http/url-path.js';

/**
 * A function that authenticates the caller of a request. It returns undefined if the request does not contain a valid
 * token; the response is then a 401.
 *
 * @throws IdentityUnavailable (503) if the identity service is unavailable
 */
export interface Identity {
  (req: IncomingMessage): Caller | undefined | Promise<Caller | undefined>;
  /** URL of the service that issues tokens, for `WWW-Authenticate`. */
  readonly uri?: string;
  /**
   * Returns whether a project exists, or undefined if the service is unavailable. Default: every project id is
   * accepted.
   */
  readonly projectExists?: (projectId: string) => Promise<boolean | undefined>;
}

type LookupResult = Caller | undefined;
type TokenLookup = (token: string) => LookupResult | Promise<LookupResult>;

/** The format of tokens: visible ASCII characters. Other header values are never looked up or forwarded. */
const TOKEN_PATTERN = /^[\x21-\x7e]+$/;

/** The compute service's types in the service catalog, which access rules of application credentials refer to. */
const SERVICE_TYPES = ['compute'];

/**
 * Creates an identity function that looks up the token in `X-Auth-Token`. For a request that another service forwards,
 * it also looks up the token in `X-Service-Token` and adds the service's roles as `serviceRoles`. A request is
 * unauthenticated if one of its tokens is not valid, or if the caller's access rules do not allow the request.
 */
export function identityByToken(lookup: TokenLookup): (req: IncomingMessage) => LookupResult | Promise<LookupResult> {
  return function identity(req) {
    const token = req.headers['x-auth-token'];
    if (typeof token !== 'string' || !TOKEN_PATTERN.test(token)) return undefined;
    const serviceToken = req.headers['x-service-token'];
    if (serviceToken === undefined) {
      const caller = lookup(token);
      return caller instanceof Promise
        ? caller.then((found) => callerIfAllowed(req, found))
        : callerIfAllowed(req, caller);
    }
    if (typeof serviceToken !== 'string' || !TOKEN_PATTERN.test(serviceToken)) return undefined;
    const results = [lookup(token), lookup(serviceToken)] as const;
    if (results[0] instanceof Promise || results[1] instanceof Promise) {
      return Promise.all(results).then(([user, service]) => callerIfAllowed(req, addServiceRoles(user, service)));
    }
    return callerIfAllowed(req, addServiceRoles(results[0], results[1]));
  };
}

function addServiceRoles(user: LookupResult, service: LookupResult): LookupResult {
  return user && service && { ...user, serviceRoles: service.roles };
}

/** Returns the caller, or undefined if its access rules do not allow the request. */
function callerIfAllowed(req: IncomingMessage & { readonly originalUrl?: string }, caller: LookupResult): LookupResult {
  if (!caller?.accessRules) return caller;
  const paths = [urlPath({ url: req.originalUrl ?? req.url }), urlPath(req)];
  return isAllowedByAccessRules(caller, SERVICE_TYPES, req.method, paths) ? caller : undefined;
}
