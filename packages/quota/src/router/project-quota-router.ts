import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { accepts, apiSigError, type ErrorBody, genericError, RequestError, requestBase } from '@apistrata/microversion';
import { InvalidQuota, QuotaStoreError } from '../errors.js';
import { listProjects, removeProject, setProject, showProject, showQuotas } from './actions.js';
import { type Identity, IdentityError } from './identity.js';
import { ClientDisconnected } from './read-body.js';
import { METHODS_BY_ROUTE, type Route, routeOf } from './route.js';
import { type ProjectQuotaRouterOptions, type RouterSettings, routerSettings } from './router-options.js';
import { RejectedRequest, type RouterResponse } from './router-response.js';

/** The value of the `Retry-After` header while the store is unavailable. */
const RETRY_AFTER_SECONDS = 5;

/** Middleware for Express 4 and 5, and a complete request handler for bare `node:http`. */
export type ProjectQuotaRouter = (
  req: IncomingMessage,
  res: ServerResponse,
  next?: (error?: unknown) => unknown,
) => Promise<void>;

/**
 * Creates a handler for the project-quota REST API: `/v1/quotas`, `/v1/project-quotas` and
 * `/v1/project-quotas/{project_id}`. It responds to all requests to these paths and the paths below them, including
 * those that fail.
 *
 * @throws TypeError if an option is unknown or invalid
 *
 * @example
 * ```ts
 * import { memoryStore, projectQuotas } from '@apistrata/quota';
 * import { headerIdentity, projectQuotaRouter } from '@apistrata/quota/router';
 * import express from 'express';
 *
 * const quota = projectQuotas({ preset: 'key-manager', store: memoryStore() });
 * express().use(projectQuotaRouter({ quota, identity: headerIdentity() }));
 * ```
 */
export function projectQuotaRouter(options: ProjectQuotaRouterOptions): ProjectQuotaRouter {
  const settings = routerSettings(options);

  return async function projectQuotaMiddleware(req, res, next) {
    const route = routeOf(req.url ?? '/');
    if (route.name === 'other' && next && settings.otherPaths === 'next') {
      next();
      return;
    }
    const response = await responseTo(settings, route, req, res);
    if (response) sendResponse(res, response);
  };
}

/** Returns the response to a request; undefined if the client has disconnected. */
async function responseTo(
  settings: RouterSettings,
  route: Route,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<RouterResponse | undefined> {
  if (req.method === 'OPTIONS') return { status: 200 };
  try {
    const identity = await settings.identity(req);
    if (!identity) throw new IdentityError(401, 'Authentication is required.');
    setRequestId(settings, req, res);
    settings.negotiate.apply(req, res);
    return await runAction(settings, route, identity, req);
  } catch (error) {
    if (error instanceof RejectedRequest) return error.response;
    if (error instanceof IdentityError) return unauthenticatedResponse(settings, error, req);
    if (error instanceof RequestError) return versionResponse(error, req);
    if (error instanceof ClientDisconnected) return undefined;
    const service = route.name === 'quotas' ? 'Quotas' : 'Project Quotas';
    if (error instanceof InvalidQuota)
      return new RejectedRequest(400, `${service} issue seen - ${error.message}.`).response;
    settings.onError(error, req);
    if (error instanceof QuotaStoreError) return unavailableResponse(service);
    return new RejectedRequest(500, `${service} failure seen - please contact site administrator.`).response;
  }
}

/** Returns the response while the store is unavailable. */
function unavailableResponse(service: string): RouterResponse {
  const headers = { 'Retry-After': String(RETRY_AFTER_SECONDS) };
  return new RejectedRequest(503, `${service} failure seen - the quota store is unavailable; try again later.`, headers)
    .response;
}

/**
 * Returns the response to a request without a valid identity. Its format differs from that of other errors, because in
 * the original service the authentication middleware sends it.
 */
function unauthenticatedResponse(
  { identityUrl, trustProxy }: RouterSettings,
  error: IdentityError,
  req: IncomingMessage,
): RouterResponse {
  const response = { status: error.status, ...contentOf(genericError(error, req)) };
  if (error.status !== 401) return { ...response, headers: error.headers };
  const url = identityUrl ?? `${requestBase(req, trustProxy)}/identity`;
  const challenge = `Keystone uri="${url.replace(/[^\x21\x23-\x5b\x5d-\x7e]/gu, encodeURIComponent)}"`;
  return { ...response, headers: { 'WWW-Authenticate': challenge, ...error.headers } };
}

/**
 * Returns the response to a request whose version is rejected. If the version is malformed, the format depends on
 * `Accept`; if it is unsupported, the body contains the supported range.
 */
function versionResponse(error: RequestError, req: IncomingMessage): RouterResponse {
  const content = error.status === 406 ? apiSigError(error) : genericError(error, req);
  return { status: error.status, ...contentOf(content) };
}

/** Returns the content type and body of an error response. JSON responses of this API have no charset. */
function contentOf({ contentType, body }: ErrorBody): Pick<RouterResponse, 'type' | 'body'> {
  return { type: contentType.replace(/^(application\/json);.*/, '$1'), body };
}

/**
 * Runs the action for a route. Clients rely on the order of the checks: method, format, path, role, and then the checks
 * of the action.
 */
async function runAction(
  settings: RouterSettings,
  route: Route,
  { projectId, roles }: Identity,
  req: IncomingMessage,
): Promise<RouterResponse> {
  const methods = METHODS_BY_ROUTE[route.name];
  const { method = 'GET' } = req;
  if (methods.length > 0 && !methods.includes(method))
    throw new RejectedRequest(405, '', { Allow: methods.join(', ') });
  const hasResponseBody = method !== 'DELETE';
  if (hasResponseBody && !accepts(req.headers.accept, 'application/json')) throw new RejectedRequest(406, null);
  if (route.name === 'unknown' || route.name === 'other') throw new RejectedRequest(404, '');
  const requiredRoles = route.name === 'quotas' ? settings.readerRoles : [settings.adminRole];
  if (requiredRoles && !hasAnyRole(roles, requiredRoles)) {
    const service = route.name === 'quotas' ? 'Quotas' : 'Project Quotas';
    throw new RejectedRequest(403, `${service} attempt not allowed - please review your user/project privileges`);
  }
  if (route.name === 'quotas') return showQuotas(settings, projectId);
  if (route.name === 'list') return listProjects(settings, req);
  if (req.method === 'PUT') return setProject(settings, route.project, req);
  if (req.method === 'DELETE') return removeProject(settings, route.project);
  return showProject(settings, route.project);
}

function hasAnyRole(roles: readonly string[], allowedRoles: readonly string[]): boolean {
  const allowedNames = new Set(allowedRoles.map((role) => role.toLowerCase()));
  return roles.some((role) => allowedNames.has(role.toLowerCase()));
}

/**
 * Sets the request id headers to the id that the client sent, or to a new one. Every response to an authenticated
 * caller has them, including version errors.
 */
function setRequestId({ requestIdHeaders }: RouterSettings, req: IncomingMessage, res: ServerResponse): void {
  const missingHeaders = requestIdHeaders.filter((name) => !res.hasHeader(name));
  const inboundId = requestIdHeaders.map((name) => req.headers[name.toLowerCase()]).find(Boolean);
  const id = inboundId ? String(inboundId) : `req-${randomUUID()}`;
  for (const name of missingHeaders) res.setHeader(name, id);
}

function sendResponse(res: ServerResponse, { status, type, body, headers = {} }: RouterResponse): void {
  if (res.headersSent) return;
  res.statusCode = status;
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  if (type) res.setHeader('Content-Type', type);
  if (status !== 204) res.setHeader('Content-Length', Buffer.byteLength(body ?? ''));
  res.end(body);
}
