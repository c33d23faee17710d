import { request } from 'node:http';
import { defaultJsonLimits } from '@apistrata/microversion';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, apiUnderTest } from '../api-under-test.js';
import { keyOf, LATEST, type ListedOperation, listedOperations } from '../contract/reference.js';
import { pathOf } from '../contract/send-request.js';

/** The largest body that the API accepts. */
const LIMIT = 114_688;
/** Far more CPU time than any of these bodies requires, and far less than a noticeable stall. */
const MAX_CPU_MS = 1000;

/** Slightly less than the limits allow, because the shapes are inside one or two objects. */
const DEPTH = defaultJsonLimits.depth - 4;
/** Of each object in a list, the bracket and the comma are counted. */
const OBJECTS = (defaultJsonLimits.values - 1000) / 2;

const withBody = listedOperations.filter(({ method, base }) => !base && (method === 'POST' || method === 'PUT'));

/** Repeats a string as often as the capacity permits. */
const fill = (chunk: string, size: number) => chunk.repeat(Math.floor(size / chunk.length));

function largeObject(capacity: number): string {
  const keys: string[] = [];
  for (let size = 2; size < capacity - 20; size += keys.at(-1)!.length + 1)
    keys.push(`"k${keys.length}":${keys.length}`);
  return `{${keys}}`;
}

/** Functions that return values of a given size in various extreme shapes. */
const shapes: Readonly<Record<string, (size: number) => string>> = {
  'deep lists': (size) => `${fill('[', size / 2)}${fill(']', size / 2)}`,
  'deep objects': (size) => {
    const levels = Math.floor((size - 1) / 6);
    return `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
  },
  'wide lists': (size) => `[${fill('1,', size - 3)}1]`,
  'wide objects': largeObject,
  'a long text': (size) => `"${fill('a', size - 2)}"`,
  'a long number': (size) => fill('9', size),
  // These are almost as deep and as wide as the limits allow, so all code that runs after the checks must handle them.
  'the deepest lists that are read': () => `${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}`,
  'the widest list that is read': () => `[${'{},'.repeat(OBJECTS)}{}]`,
};

/** Returns the outermost key of the operation's body. The operation's schema validates the value of this key. */
function memberOf(listed: ListedOperation): string {
  const { action, path, request: requested } = listed;
  // The key must equal the last part of the path.
  if (path.endsWith('/os-extra_specs/{id}')) return pathOf(listed).split('/').at(-1)!;
  return action ?? (Array.isArray(requested) ? requested[0]?.fields[0]?.name.split(/[.[]/)[0] : undefined) ?? 'server';
}

describe.each(['/v2.1', '/v2'])('bodies of extreme shape below %s', (mount) => {
  let api: Api;
  beforeAll(async () => {
    api = await apiUnderTest({ router: { maxVersion: LATEST } });
  });
  afterAll(() => api.close());

  function send(listed: ListedOperation, body: string): Promise<{ status: number; text: string; cpuMs: number }> {
    const before = process.cpuUsage();
    return new Promise((resolve, reject) => {
      const sent = request(`${api.url}${mount}${pathOf(listed)}`, {
        method: listed.method,
        headers: {
          'X-Auth-Token': 'admin:p1',
          'Content-Type': 'application/json',
          'OpenStack-API-Version': `compute ${listed.since}`,
        },
      });
      sent.on('error', reject);
      sent.on('response', async (res) => {
        let text = '';
        for await (const chunk of res) text += chunk;
        const { user, system } = process.cpuUsage(before);
        resolve({ status: res.statusCode!, text, cpuMs: (user + system) / 1000 });
      });
      sent.end(body);
    });
  }

  it('are sent to every operation with a body', () => {
    expect(withBody.length).toBeGreaterThan(100);
  });

  it.each(Object.entries(shapes))('of %s are handled by every operation at low cost', async (_, shape) => {
    for (const listed of withBody) {
      const member = memberOf(listed);
      const size = LIMIT - member.length - 5;
      for (const body of [
        `{"${member}":${shape(size)}}`,
        `{"${member}":{"${member}":${shape(size - member.length - 5)}}}`,
      ]) {
        expect(body.length).toBeLessThanOrEqual(LIMIT);
        const { status, text, cpuMs } = await send(listed, body);
        const description = `${keyOf(listed)}: ${status} ${text.slice(0, 200)}`;
        // Below `/v2`, keys that the schema does not define are removed, so some of these bodies are valid.
        if (mount !== '/v2') expect(status, description).toBeGreaterThanOrEqual(400);
        expect(status, description).toBeLessThan(500);
        expect(text.length, description).toBeLessThan(5000);
        expect(cpuMs, description).toBeLessThan(MAX_CPU_MS);
      }
    }
    expect(api.errors).toEqual([]);
  });
});
