import type { IncomingMessage } from 'node:http';
import { checkJsonText, checkJsonValue, RequestError, requestBase } from '@apistrata/microversion';
import { InvalidQuota } from '../errors.js';
import type { LimitEntry } from '../project-quotas.js';
import { InexactNumber, type JsonValue, parseJson, toJsonValue } from './json-value.js';
import { linksOf, parsePage } from './page.js';
import { parseLimits } from './project-quota-schema.js';
import { ParsedBody, readBody } from './read-body.js';
import type { RouterSettings } from './router-options.js';
import {
  ISSUE_PREFIX,
  jsonResponse,
  NO_CONTENT_RESPONSE,
  RejectedRequest,
  type RouterResponse,
} from './router-response.js';

const NOT_FOUND_MESSAGE = 'Project quotas not found.';

/** Handles `GET /v1/quotas`: returns the limits that apply to the caller's project. */
export async function showQuotas({ quota }: RouterSettings, project: string): Promise<RouterResponse> {
  return jsonResponse(200, { quotas: await quota.effectiveLimits(project) });
}

/** Handles `GET /v1/project-quotas/{id}`: returns a project's own limits, with null for kinds that use the default. */
export async function showProject({ quota }: RouterSettings, project: string): Promise<RouterResponse> {
  const entry = await undefinedIfInvalid(() => quota.get(project));
  if (!entry) throw new RejectedRequest(404, NOT_FOUND_MESSAGE);
  return jsonResponse(200, { project_quotas: entry });
}

/** Handles `DELETE /v1/project-quotas/{id}`: removes a project's own limits. */
export async function removeProject({ quota }: RouterSettings, project: string): Promise<RouterResponse> {
  if (!(await undefinedIfInvalid(() => quota.remove(project)))) throw new RejectedRequest(404, NOT_FOUND_MESSAGE);
  return NO_CONTENT_RESPONSE;
}

/** Handles `PUT /v1/project-quotas/{id}`: replaces a project's own limits. */
export async function setProject(
  settings: RouterSettings,
  project: string,
  req: IncomingMessage,
): Promise<RouterResponse> {
  const mediaType = (req.headers['content-type'] ?? '').replace(/;.*/s, '').trim();
  if (mediaType !== 'application/json') {
    throw new RejectedRequest(415, "Unexpected content type. Expected content types are: ['application/json']");
  }
  await settings.quota.set(project, await readLimits(settings, req));
  return NO_CONTENT_RESPONSE;
}

/** Handles `GET /v1/project-quotas`: returns a page of the projects that have their own limits. */
export async function listProjects(settings: RouterSettings, req: IncomingMessage): Promise<RouterResponse> {
  const { quota, publicUrl, trustProxy } = settings;
  const { url = '/' } = req;
  const page = parsePage(new URLSearchParams(url.split('?')[1] ?? ''), settings);
  const offset = page.offset > Number.MAX_SAFE_INTEGER ? Number.MAX_SAFE_INTEGER : Number(page.offset);
  const { entries, total } = await quota.list({ limit: page.limit, offset });
  const base = publicUrl?.replace(/\/+$/, '') ?? requestBase(req, trustProxy);
  const { previous, next } = linksOf(page, total, `${base}/v1/project-quotas`);
  const projectEntries = entries.map(({ project, limits }) => ({ project_id: project, project_quotas: limits }));
  return jsonResponse(200, { project_quotas: projectEntries, previous, next, total });
}

async function readLimits({ quota, bodyLimitBytes }: RouterSettings, req: IncomingMessage): Promise<LimitEntry> {
  const body = await readBody(req, bodyLimitBytes);
  if (body instanceof Buffer && body.length === 0)
    throw new RejectedRequest(400, `${ISSUE_PREFIX} No data supplied to process..`);
  try {
    return parseLimits(parseBody(body), quota.kinds);
  } catch (error) {
    if (error instanceof RejectedRequest) throw error;
    if (error instanceof InexactNumber || error instanceof RequestError)
      throw new RejectedRequest(400, `${ISSUE_PREFIX} ${error.message}`);
    throw new RejectedRequest(400, 'Malformed JSON');
  }
}

const utf8Decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function parseBody(body: Buffer | ParsedBody): JsonValue {
  if (body instanceof ParsedBody) {
    checkJsonValue(body.value);
    return toJsonValue(body.value);
  }
  const text = utf8Decoder.decode(body);
  checkJsonText(text);
  return parseJson(text);
}

/** Returns the result of `request`, or undefined if the project id is invalid: such a project cannot have its own limits. */
async function undefinedIfInvalid<T>(request: () => Promise<T>): Promise<T | undefined> {
  try {
    return await request();
  } catch (error) {
    if (error instanceof InvalidQuota) return undefined;
    throw error;
  }
}
