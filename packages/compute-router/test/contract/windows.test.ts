import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, apiUnderTest } from '../api-under-test.js';
import { edgesOf, existsAt, keyOf, LATEST, type ListedOperation, listedOperations } from './reference.js';
import {
  isOutsideWindow,
  isUnknownAction,
  isUnrouted,
  minimalBody,
  pathOf,
  sendRequest,
  type TestResponse,
} from './send-request.js';

/** Operations that have microversions and were not removed. */
const served = listedOperations.filter(({ removed, base }) => !removed && !base);
const removed = listedOperations.filter((listed) => listed.removed);

describe('every operation of the reference', () => {
  let api: Api;
  const missing = new Set<string>();

  beforeAll(async () => {
    api = await apiUnderTest({ router: { maxVersion: LATEST } });
  });
  afterAll(() => api.close());

  function probe(listed: ListedOperation, version: string, body = minimalBody(listed)): Promise<TestResponse> {
    return sendRequest(api, listed.method, { token: 'admin:p1', version, path: pathOf(listed), body });
  }

  it('is served', async () => {
    for (const listed of listedOperations.filter(({ base }) => !base)) {
      const response = await probe(listed, listed.since);
      if (isUnrouted(response) || isUnknownAction(response)) missing.add(keyOf(listed));
    }
    expect([...missing]).toEqual([]);
  });

  describe.each(served.map((listed) => [keyOf(listed), listed] as const))('%s', (key, listed) => {
    it.each(edgesOf(listed))('exists at %s exactly within its window', async (version) => {
      if (missing.has(key)) return;
      const result = await probe(listed, version);
      expect(result.headers.get('openstack-api-version')).toBe(`compute ${version}`);
      expect(result.headers.get('x-openstack-nova-api-version')).toBe(version);
      if (existsAt(listed, version)) expect(isOutsideWindow(result)).toBe(false);
      else {
        expect(isOutsideWindow(result)).toBe(true);
        expect(JSON.parse(result.text)).toEqual({ itemNotFound: { code: 404, message: expect.any(String) } });
      }
    });
  });

  describe.each(removed.map((listed) => [keyOf(listed), listed] as const))('%s', (key, listed) => {
    it.each(['2.1', '2.35', '2.36', '2.100', '2.102', LATEST])('is removed at %s, for any request', async (version) => {
      if (missing.has(key)) return;
      const { token, path } = { token: 'ada:p1', path: pathOf(listed) };
      const removed = await sendRequest(api, listed.method, {
        token,
        version,
        path,
        query: 'a=b',
        body: minimalBody(listed),
      });
      expect(removed.status).toBe(410);
      expect(JSON.parse(removed.text)).toEqual({ computeFault: { code: 410, message: expect.any(String) } });
      if (listed.method !== 'POST' && listed.method !== 'PUT') return;
      for (const body of [undefined, [], 'text', null]) {
        const response = await sendRequest(api, listed.method, { token, version, path, body });
        // Only an object can name an action.
        expect(response.status).toBe(listed.action ? 400 : 410);
      }
    });
  });

  it('never causes a 500', () => {
    expect(api.errors).toEqual([]);
  });
});
