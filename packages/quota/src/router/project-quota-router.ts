import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { accepts, apiSigError, type ErrorBody, genericError, RequestError, requestBase } from '@apistrata/microversion';
import { InvalidQuota } from '../errors.js';
import { listProjects, removeProject, setProject, showProject, showQuotas } from './actions.js';
import { type Answer, Refusal } from './answer.js';
import { type Identity, IdentityError } from './identity.js';
import { ClientGone } from './read-body.js';
import { METHODS, type Route, routeOf } from './route.js';
import { type ProjectQuotaRouterOptions, type RouterSettings, routerSettings } from './router-options.js';

/** Works as Express 4 and 5 middleware, and as the whole handler of a bare `node:http` server. */
export type ProjectQuotaRouter = (
  req: IncomingMessage,
  res: ServerResponse,
  next?: (error?: unknown) => unknown,
) => Promise<void>;

/**
 * The project-quota REST API: `/v1/quotas`, `/v1/project-quotas`, `/v1/project-quotas/{project_id}`. It answers all
 * requests below these paths itself, errors included.
 *
 * @throws TypeError for unknown or impossible options, when it is made
 *
 * @example
 * ```ts
 * import { memoryStore, projectQuotas } from '@apistrata/quota';
 * import { headerIdentity, projectQuotaRouter } from '@apistrata/quota/router';
 * import express from 'express';
 *
 * const quota = projectQuotas({ store: memoryStore() });
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
    const answer = await answerTo(settings, route, req, res);
    if (answer) send(res, answer);
  };
}

/** Undefined where there is nobody left to answer. */
async function answerTo(
  settings: RouterSettings,
  route: Route,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<Answer | undefined> {
  if (req.method === 'OPTIONS') return { status: 200 };
  try {
    const identity = await settings.identity(req);
    if (!identity) throw new IdentityError(401, 'Authentication is required.');
    giveRequestId(settings, req, res);
    settings.negotiate.apply(req, res);
    return await act(settings, route, identity, req);
  } catch (error) {
    if (error instanceof Refusal) return error.answer;
    if (error instanceof IdentityError) return strangerAnswer(settings, error, req);
    if (error instanceof RequestError) return versionAnswer(error, req);
    if (error instanceof ClientGone) return undefined;
    const service = route.name === 'quotas' ? 'Quotas' : 'Project Quotas';
    if (error instanceof InvalidQuota) return new Refusal(400, `${service} issue seen - ${error.message}.`).answer;
    settings.onError(error, req);
    return new Refusal(500, `${service} failure seen - please contact site administrator.`).answer;
  }
}

/** The answer to somebody unknown: it comes before the service proper and looks unlike it. */
function strangerAnswer(
  { identityUrl, trustProxy }: RouterSettings,
  error: IdentityError,
  req: IncomingMessage,
): Answer {
  const answer = { status: error.status, ...contentOf(genericError(error, req)) };
  if (error.status !== 401) return { ...answer, headers: error.headers };
  const url = identityUrl ?? `${requestBase(req, trustProxy)}/identity`;
  const challenge = `Keystone uri="${url.replace(/[^\x21\x23-\x5b\x5d-\x7e]/gu, encodeURIComponent)}"`;
  return { ...answer, headers: { 'WWW-Authenticate': challenge, ...error.headers } };
}

/** What is no version is told in the form the client likes; what is none of ours in the one that tells the range. */
function versionAnswer(error: RequestError, req: IncomingMessage): Answer {
  const content = error.status === 406 ? apiSigError(error) : genericError(error, req);
  return { status: error.status, ...contentOf(content) };
}

function contentOf({ contentType, body }: ErrorBody): Pick<Answer, 'type' | 'body'> {
  return { type: contentType, body };
}

/** The order is part of the contract: method, format, path, role, and then what the action itself checks. */
async function act(
  settings: RouterSettings,
  route: Route,
  { projectId, roles }: Identity,
  req: IncomingMessage,
): Promise<Answer> {
  const methods = METHODS[route.name];
  const { method = 'GET' } = req;
  if (methods.length > 0 && !methods.includes(method)) throw new Refusal(405, '', { Allow: methods.join(', ') });
  // A DELETE has nothing to show in any format.
  const shows = method !== 'DELETE';
  if (shows && !accepts(req.headers.accept, 'application/json')) throw new Refusal(406, null);
  if (route.name === 'unknown' || route.name === 'other') throw new Refusal(404, '');
  const needed = route.name === 'quotas' ? settings.readerRoles : [settings.adminRole];
  if (needed && !hasOneOf(roles, needed)) {
    const service = route.name === 'quotas' ? 'Quotas' : 'Project Quotas';
    throw new Refusal(403, `${service} attempt not allowed - please review your user/project privileges`);
  }
  if (route.name === 'quotas') return showQuotas(settings, projectId);
  if (route.name === 'list') return listProjects(settings, req);
  if (req.method === 'PUT') return setProject(settings, route.project, req);
  if (req.method === 'DELETE') return removeProject(settings, route.project);
  return showProject(settings, route.project);
}

function hasOneOf(roles: readonly string[], needed: readonly string[]): boolean {
  const allowed = new Set(needed.map((role) => role.toLowerCase()));
  return roles.some((role) => allowed.has(role.toLowerCase()));
}

/** An inbound id is echoed as it is; every answer to somebody known has one, those about versions too. */
function giveRequestId({ requestIdHeaders }: RouterSettings, req: IncomingMessage, res: ServerResponse): void {
  const missing = requestIdHeaders.filter((name) => !res.hasHeader(name));
  const inbound = requestIdHeaders.map((name) => req.headers[name.toLowerCase()]).find(Boolean);
  const id = inbound ? String(inbound) : `req-${randomUUID()}`;
  for (const name of missing) res.setHeader(name, id);
}

function send(res: ServerResponse, { status, type, body, headers = {} }: Answer): void {
  if (res.headersSent) return;
  res.statusCode = status;
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  if (type) res.setHeader('Content-Type', type);
  if (status !== 204) res.setHeader('Content-Length', Buffer.byteLength(body ?? ''));
  res.end(body);
}
