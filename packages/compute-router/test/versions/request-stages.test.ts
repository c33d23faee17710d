import { afterAll, beforeAll, describe, expect, it } from 'vitest';
// @ts-expect-error: scripts have no types
import { requestStages } from '../../../../scripts/diagrams/request-stages.mjs';
import { type Api, apiUnderTest } from '../api-under-test.js';

const MEBIBYTE = 1024 * 1024;
const json = { 'Content-Type': 'application/json' };

/**
 * Requests that a stage rejects. Unless the headers differ, the caller is a project member, and the version is the
 * newest one.
 */
const REJECTED: readonly (readonly [path: string, init: RequestInit])[] = [
  ['/servers', { headers: { 'X-Auth-Token': '' } }],
  ['/nowhere', {}],
  ['/servers', { headers: { 'OpenStack-API-Version': 'compute 9.9' } }],
  ['/servers', { headers: { 'OpenStack-API-Version': 'compute newest' } }],
  ['/servers', { method: 'POST', headers: { 'Content-Type': 'application/xml' }, body: '<server/>' }],
  ['/servers', { method: 'POST', headers: json, body: '{' }],
  ['/servers', { method: 'POST', headers: json, body: JSON.stringify({ server: { name: 'a'.repeat(MEBIBYTE) } }) }],
  ['/os-networks', {}],
  ['/servers?nothing=1', {}],
  ['/servers', { method: 'POST', headers: json, body: '{ "server": {} }' }],
  ['/servers/5a0bd6d8-3a05-4ba0-9e33-b3d2c3b7a4a1', {}],
  ['/os-services', {}],
  ['/servers/SERVER/action', { method: 'POST', headers: json, body: '{ "os-start": null }' }],
];

describe('the stages of a request', () => {
  let api: Api;
  let passed: string[] = [];
  let responded: (() => void) | undefined;
  beforeAll(async () => {
    const observer = { stage: (stage: string) => void passed.push(stage), request: () => responded?.() };
    api = await apiUnderTest({ router: { observer } });
  });
  afterAll(() => api.close());

  /** Sends a request. Returns its status and the stages that it passed. */
  async function stagesOf(path: string, { headers, ...init }: RequestInit) {
    passed = [];
    const observed = new Promise<void>((resolve) => (responded = resolve));
    const own = { 'X-Auth-Token': 'ada:demo', 'OpenStack-API-Version': 'compute latest', ...headers };
    const { status } = await fetch(`${api.url}/v2.1${path}`, { ...init, headers: own });
    await observed;
    return { status, passed };
  }

  it('end requests with the statuses that the documentation shows', async () => {
    const { id } = await api.as('ada:demo').boot();
    const { status, passed: order } = await stagesOf('/servers', {});
    expect(status).toBe(200);
    const statuses = new Map(order.map((name) => [name, new Set<number>()]));
    for (const [path, init] of REJECTED) {
      const rejected = await stagesOf(path.replace('SERVER', id), init);
      expect([path, rejected.passed]).toEqual([path, order.slice(0, rejected.passed.length)]);
      statuses.get(order[rejected.passed.length] ?? '')?.add(rejected.status);
    }
    const stages = [...statuses].map(([name, all]) => ({ name, statuses: [...all].sort() }));
    expect(stages.flatMap(({ name, statuses }) => (statuses.length > 0 ? [`${name} ${statuses}`] : []))).toEqual([
      'identity 401',
      'route 404',
      'version 400,406',
      'body 400,413,415',
      'validation 400,404',
      'target 404',
      'policy 403',
      'run 409',
    ]);
    await expect(requestStages(stages)).toMatchFileSnapshot('../../../../docs/images/request-stages.svg');
  });
});
