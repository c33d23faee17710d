import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, apiUnderTest } from '../api-under-test.js';
import { type Answer, ask, isOutsideWindow, isUnknownAction, isUnrouted, leastBody, pathOf } from './ask.js';
import { edgesOf, existsAt, keyOf, LATEST, type ListedOperation, listedOperations } from './reference.js';

/** Operations of the microversioned API that are still there. */
const served = listedOperations.filter(({ removed, base }) => !removed && !base);
const removed = listedOperations.filter((listed) => listed.removed);

describe('every operation of the reference', () => {
  let api: Api;
  const missing = new Set<string>();

  beforeAll(async () => {
    api = await apiUnderTest({ router: { maxVersion: LATEST } });
  });
  afterAll(() => api.close());

  function probe(listed: ListedOperation, version: string, body = leastBody(listed)): Promise<Answer> {
    return ask(api, listed.method, { token: 'admin:p1', version, path: pathOf(listed), body });
  }

  it('is known: none is missing', async () => {
    for (const listed of listedOperations.filter(({ base }) => !base)) {
      const answer = await probe(listed, listed.since);
      if (isUnrouted(answer) || isUnknownAction(answer)) missing.add(keyOf(listed));
    }
    expect([...missing]).toEqual([]);
  });

  describe.each(served.map((listed) => [keyOf(listed), listed] as const))('%s', (key, listed) => {
    it.each(edgesOf(listed))('exists at %s exactly when its window says so', async (version) => {
      if (missing.has(key)) return;
      const answer = await probe(listed, version);
      expect(answer.headers.get('openstack-api-version')).toBe(`compute ${version}`);
      expect(answer.headers.get('x-openstack-nova-api-version')).toBe(version);
      if (existsAt(listed, version)) expect(isOutsideWindow(answer)).toBe(false);
      else {
        expect(isOutsideWindow(answer)).toBe(true);
        expect(JSON.parse(answer.text)).toEqual({ itemNotFound: { code: 404, message: expect.any(String) } });
      }
    });
  });

  describe.each(removed.map((listed) => [keyOf(listed), listed] as const))('%s', (key, listed) => {
    it.each(['2.1', '2.35', '2.36', '2.100', '2.102', LATEST])('is gone at %s, whatever is sent', async (version) => {
      if (missing.has(key)) return;
      const { token, path } = { token: 'ada:p1', path: pathOf(listed) };
      const gone = await ask(api, listed.method, { token, version, path, query: 'a=b', body: leastBody(listed) });
      expect(gone.status).toBe(410);
      expect(JSON.parse(gone.text)).toEqual({ computeFault: { code: 410, message: expect.any(String) } });
      if (listed.method !== 'POST' && listed.method !== 'PUT') return;
      for (const body of [undefined, [], 'text', null]) {
        const answer = await ask(api, listed.method, { token, version, path, body });
        // Which action is meant, only an object can say.
        expect(answer.status).toBe(listed.action ? 400 : 410);
      }
    });
  });

  it('makes no 500 of any of that', () => {
    expect(api.errors).toEqual([]);
  });
});
