import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { InvalidQuota } from '../errors.js';
import { acceptsJson } from './accept.js';
import { listProjects, removeProject, setProject, showProject, showQuotas } from './actions.js';
import { type Answer, Refusal } from './answer.js';
import { genericError, plainError } from './generic-error.js';
import { type Identity, IdentityError } from './identity.js';
import { BodyAborted } from './read-body.js';
import { METHODS, type Route, routeOf } from './route.js';
import { type ProjectQuotaRouterOptions, type RouterSettings, routerSettings } from './router-options.js';
import { negotiate } from './version.js';

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
 */
export function projectQuotaRouter(options: ProjectQuotaRouterOptions): ProjectQuotaRouter {
  const settings = routerSettings(options);

  return async function projectQuotaMiddleware(req, res, next) {
    const route = routeOf(req.url!.split('?')[0]!);
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
    const identity = await identify(settings, req);
    if ('status' in identity) return identity;
    const negotiated = negotiate(req, settings.versionHeader, settings.serviceType);
    if ('status' in negotiated) return { status: negotiated.status, ...negotiated.content };
    markAsOurs(settings, negotiated.version, req, res);
    return await act(settings, route, identity, req);
  } catch (error) {
    if (error instanceof Refusal) return error.answer;
    if (error instanceof BodyAborted) return undefined;
    const service = route.name === 'quotas' ? 'Quotas' : 'Project Quotas';
    if (error instanceof InvalidQuota) return new Refusal(400, `${service} issue seen - ${error.message}.`).answer;
    settings.onError(error, req);
    return new Refusal(500, `${service} failure seen - please contact site administrator.`).answer;
  }
}

/** The sender, or the answer where there is none: it comes before the service proper and looks unlike it. */
async function identify({ identity }: RouterSettings, req: IncomingMessage): Promise<Identity | Answer> {
  try {
    const found = await identity(req);
    return found ?? { status: 401, ...plainError(401, 'Authentication is required.') };
  } catch (error) {
    if (!(error instanceof IdentityError)) throw error;
    const { status, message } = error;
    return { status, ...(status === 401 ? plainError(401, message) : genericError(req, status, message)) };
  }
}

/** The order is part of the contract: method, format, path, role, and then what the action itself checks. */
async function act(
  settings: RouterSettings,
  route: Route,
  { projectId, roles }: Identity,
  req: IncomingMessage,
): Promise<Answer> {
  const methods = METHODS[route.name];
  if (methods.length > 0 && !methods.includes(req.method!)) throw new Refusal(405, '', { Allow: methods.join(', ') });
  if (!acceptsJson(req.headers.accept)) throw new Refusal(406, null);
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
  const wanted = new Set(needed.map((role) => role.toLowerCase()));
  return roles.some((role) => wanted.has(role.toLowerCase()));
}

/** The headers that every answer of the service proper has, errors included. */
function markAsOurs(settings: RouterSettings, version: string, req: IncomingMessage, res: ServerResponse): void {
  const { versionHeader, requestIdHeader, serviceType } = settings;
  res.setHeader(versionHeader, `${serviceType} ${version}`);
  res.appendHeader('Vary', versionHeader);
  if (res.hasHeader(requestIdHeader)) return;
  const inbound = req.headers[requestIdHeader.toLowerCase()];
  res.setHeader(requestIdHeader, inbound ? String(inbound) : `req-${randomUUID()}`);
}

function send(res: ServerResponse, { status, type, body, headers = {} }: Answer): void {
  if (res.headersSent) return;
  res.statusCode = status;
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  if (type) res.setHeader('Content-Type', type);
  if (status !== 204) res.setHeader('Content-Length', Buffer.byteLength(body ?? ''));
  res.end(body);
}
