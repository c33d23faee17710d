import { describe, expect, it } from 'vitest';
// @ts-expect-error: benchmarks have no types
import { requests as untyped } from '../bench/operation-requests.mjs';
import { operations } from '../packages/compute-router/src/operations/index.js';

interface Request {
  readonly params?: Readonly<Record<string, string>>;
}

const requests = untyped as Readonly<Record<string, string | readonly Request[]>>;
const served = [...new Set(operations.filter(({ method }) => method === 'GET').map(({ path }) => `GET ${path}`))];

describe('the benchmark of operations', () => {
  it('measures each read operation, or gives a reason for omitting it', () => {
    expect(Object.keys(requests).sort()).toEqual(served.toSorted());
    const empty = Object.entries(requests).filter(([, given]) => given.length === 0);
    expect(empty).toEqual([]);
  });

  it('sets each parameter of the paths, and no others', () => {
    for (const [key, given] of Object.entries(requests)) {
      if (typeof given === 'string') continue;
      const names = [...key.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name);
      for (const { params = {} } of given) expect(Object.keys(params).sort(), key).toEqual(names.toSorted());
    }
  });

  it('does not measure removed operations', () => {
    const removed = operations.filter(({ method, status }) => method === 'GET' && status === 410);
    expect(removed.length).toBeGreaterThan(0);
    for (const { path } of removed) expect(typeof requests[`GET ${path}`], path).toBe('string');
  });
});
