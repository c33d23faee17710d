import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { InvalidQuota } from '../errors.js';
import type { LimitEntry } from '../project-quotas.js';
import { type Answer, json, NO_CONTENT, Refusal } from './answer.js';
import { readJson } from './json-value.js';
import { linksOf, pageIn } from './page.js';
import { limitsIn, SchemaViolation } from './project-quota-schema.js';
import { BodyTooLarge, readBody } from './read-body.js';
import type { RouterSettings } from './router-options.js';

const NOT_FOUND = 'Project quotas not found.';
const ISSUE = 'Project Quotas issue seen -';
const HOST = /^[A-Za-z0-9._~%-]+(:\d{1,5})?$|^\[[0-9A-Fa-f:.]+\](:\d{1,5})?$/;

/** `GET /v1/quotas`: what applies to the caller, defaults filled in. */
export async function showQuotas({ quota }: RouterSettings, project: string): Promise<Answer> {
  return json(200, { quotas: await quota.effective(project) });
}

/** `GET /v1/project-quotas/{id}`: what is set for a project, null where nothing is. */
export async function showProject({ quota }: RouterSettings, project: string): Promise<Answer> {
  const entry = await known(() => quota.get(project));
  if (!entry) throw new Refusal(404, NOT_FOUND);
  return json(200, { project_quotas: entry });
}

/** `DELETE /v1/project-quotas/{id}` */
export async function removeProject({ quota }: RouterSettings, project: string): Promise<Answer> {
  if (!(await known(() => quota.remove(project)))) throw new Refusal(404, NOT_FOUND);
  return NO_CONTENT;
}

/** `PUT /v1/project-quotas/{id}`: replaces what is set. */
export async function setProject(settings: RouterSettings, project: string, req: IncomingMessage): Promise<Answer> {
  const [mediaType] = (req.headers['content-type'] ?? '').split(';');
  if (mediaType!.trim() !== 'application/json') {
    throw new Refusal(415, "Unexpected content type. Expected content types are: ['application/json']");
  }
  await settings.quota.set(project, await limitsOf(settings, req));
  return NO_CONTENT;
}

/** `GET /v1/project-quotas` */
export async function listProjects(settings: RouterSettings, req: IncomingMessage): Promise<Answer> {
  const { quota } = settings;
  const page = pageIn(new URLSearchParams(req.url!.split('?')[1] ?? ''), settings);
  const offset = page.offset > Number.MAX_SAFE_INTEGER ? Number.MAX_SAFE_INTEGER : Number(page.offset);
  const { entries, total } = await quota.list({ limit: page.limit, offset });
  const { previous, next } = linksOf(page, total, `${baseOf(settings, req)}/v1/project-quotas`);
  const listed = entries.map(({ project, limits }) => ({ project_id: project, project_quotas: limits }));
  return json(200, { project_quotas: listed, previous, next, total });
}

async function limitsOf({ quota, bodyLimitBytes }: RouterSettings, req: IncomingMessage): Promise<LimitEntry> {
  const body = await readBody(req, bodyLimitBytes).catch((error) => {
    throw error instanceof BodyTooLarge
      ? new Refusal(413, `${ISSUE} The body has more than ${bodyLimitBytes} bytes.`)
      : error;
  });
  if (body.length === 0) throw new Refusal(400, `${ISSUE} No data supplied to process..`);
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
    return limitsIn(readJson(text), quota.kinds);
  } catch (error) {
    throw new Refusal(400, error instanceof SchemaViolation ? error.message : 'Malformed JSON');
  }
}

/** A project whose id no store can hold is one that has no entry. */
async function known<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof InvalidQuota) return undefined;
    throw error;
  }
}

function baseOf({ publicUrl }: RouterSettings, req: IncomingMessage & { readonly baseUrl?: string }): string {
  if (publicUrl) return publicUrl.replace(/\/+$/, '');
  const forwarded = String(req.headers['x-forwarded-proto'] ?? '').toLowerCase();
  const own = (req.socket as TLSSocket).encrypted ? 'https' : 'http';
  const scheme = forwarded === 'http' || forwarded === 'https' ? forwarded : own;
  const { host = '' } = req.headers;
  return `${scheme}://${HOST.test(host) ? host : 'localhost'}${req.baseUrl ?? ''}`;
}
