import { createServer, type RequestListener } from 'node:http';
import { memoryStore, type ProjectQuotas, projectQuotas } from '@apistrata/quota';
import { headerIdentity, type ProjectQuotaRouterOptions, projectQuotaRouter } from '@apistrata/quota/router';
import supertest from 'supertest';
import { beforeEach } from 'vitest';

export const ADMIN = { 'X-Project-Id': 'admins', 'X-Roles': 'key-manager:service-admin' };
export const MEMBER = { 'X-Project-Id': 'p1', 'X-Roles': 'member' };
export const UNSET = { secrets: null, orders: null, containers: null, consumers: null, cas: null };

export let quota: ProjectQuotas;
/** Gives each test a quota without usage. */
export function onFreshQuota(): void {
  beforeEach(() => {
    quota = projectQuotas({ preset: 'key-manager', store: memoryStore(), defaults: { secrets: 100 } });
  });
}

export type Options = Partial<ProjectQuotaRouterOptions>;
export const handler = (options: Options = {}): RequestListener =>
  projectQuotaRouter({ quota, identity: headerIdentity({ confirmed: false }), ...options }) as RequestListener;
export const agent = (options: Options = {}) => supertest(createServer(handler(options)));
export const put = (path: string, body: unknown, options: Options = {}) =>
  agent(options)
    .put(path)
    .set(ADMIN)
    .type('application/json')
    .send(typeof body === 'string' ? body : JSON.stringify(body));
export const get = (path: string, options: Options = {}) => agent(options).get(path).set(ADMIN);
export const problem = (code: number, title: string, description: string | null) =>
  JSON.stringify({ code, title, description }).replaceAll('":', '": ').replaceAll(',"', ', "');
