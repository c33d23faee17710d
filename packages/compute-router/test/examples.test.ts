import { join } from 'node:path';
import { Version } from '@apistrata/microversion';
import {
  type Example,
  exampleAt,
  existsAt,
  nameOf,
  type Operation,
  openApi,
  operationKey,
  operationShape,
} from '@apistrata/microversion-router';
import { describe, expect, inject, it } from 'vitest';
import { computeApiDescription, operations } from '../src/index.js';
import type { Call } from './contract/calls/call.js';
import { calls } from './contract/calls/calls.js';
import { Cloud, OWNER } from './contract/cloud.js';
import { keyOf, type ListedOperation, existsAt as listedAt, listedOperations } from './contract/reference.js';
import { pathOf, sendRequest } from './contract/send-request.js';
import { stable } from './stable-example.js';

/**
 * Versions at which responses are recorded, in order of preference. Operations that exist at none of these have no
 * example.
 */
const recordedAt = ['2.100', '2.53', '2.1'];
const [NEWEST] = recordedAt as [string];
const file = join(import.meta.dirname, '../src/reference/recorded-examples.ts');

const head = `// Written by test/examples.test.ts from responses of the API at ${recordedAt.join(', ')}; \`vitest --update\` rewrites it.
import type { Example } from '@apistrata/microversion-router';

/**
 * Example requests and responses by operation name, newest version first. Examples that equal a newer one are omitted.
 * Created on demand.
 */
export const recordedExamples = (): Readonly<Record<string, readonly Example[]>> => ({
`;

/** Functions that create a resource for lists that would otherwise be empty, by path. */
const shownBy: Readonly<Record<string, (cloud: Cloud) => Promise<unknown>>> = {
  '/servers': (cloud) => cloud.connected(),
  '/servers/detail': (cloud) => cloud.connected(),
  '/os-keypairs': (cloud) => cloud.keypair(),
  '/os-server-groups': (cloud) => cloud.group(),
  '/os-aggregates': (cloud) => cloud.aggregate('host1'),
  '/os-migrations': (cloud) => cloud.server(['migrate']),
};

/** Parent resources for operations whose response would otherwise be empty. */
const parents: Readonly<Record<string, (cloud: Cloud) => Promise<Readonly<Record<string, string>>>>> = {
  'GET /servers/{id}': async (cloud) => ({ id: (await cloud.connected()).id }),
  'GET /servers/{server_id}/ips': async (cloud) => ({ server_id: (await cloud.connected()).id }),
  'GET /servers/{server_id}/os-interface': async (cloud) => ({ server_id: (await cloud.connected()).id }),
  'GET /servers/{server_id}/os-volume_attachments': (cloud) => cloud.attached(),
  'GET /servers/{server_id}/metadata': async (cloud) => ({
    server_id: (await cloud.server([], { metadata: { colour: 'blue' } })).id,
  }),
};

/**
 * Returns the position of an operation: limits and usage are recorded first, then lists, while few other resources
 * exist.
 */
function rank({ method, path }: Pick<ListedOperation, 'method' | 'path'>): number {
  if (method !== 'GET') return 2;
  if (/limits|quota|usage/.test(path)) return 0;
  return path.includes('{') ? 2 : 1;
}

/** Requests and responses that have no body at these versions, and responses of operations that always fail. */
const WITHOUT: readonly string[] = [
  'evacuateServer: answer',
  'addServerTag: request',
  'createServerImage: answer',
  'createServerBackup: answer',
  'showFloatingIpDnsEntry: answer',
  'showBaremetalNode: answer',
];

/** Returns the operations that are served at a version, except those with the other path of the server collection. */
function servedAt(text: string): readonly Operation[] {
  const version = Version.of(text);
  return operations.filter((each) => existsAt(each, version) && !nameOf(each).endsWith('OfVolumesBoot'));
}

async function record(version: string): Promise<ReadonlyMap<string, Example>> {
  const names = new Map(servedAt(version).map((each) => [operationKey(each), nameOf(each)]));
  const inOrder = listedOperations
    .filter((listed) => !listed.removed && !listed.base && listedAt(listed, version))
    .sort((one, other) => rank(one) - rank(other));
  const cloud = await Cloud.open();
  const found = new Map<string, Example>();
  try {
    await cloud.connected();
    for (const listed of inOrder) {
      const key = keyOf(listed);
      const name = names.get(key);
      if (name === undefined) continue;
      if (listed.method === 'GET') await shownBy[listed.path]?.(cloud);
      const call: Call = parents[key] ? { params: await parents[key](cloud) } : await calls[key]!(cloud, version);
      const { params, query, body } = call;
      const path = pathOf(listed, params);
      const { status, text } = await sendRequest(cloud.api, listed.method, {
        token: OWNER,
        version,
        path,
        query,
        body,
      });
      await call.after?.();
      await cloud.api.idle();
      if (status >= 300) continue;
      const response = text.startsWith('{') ? JSON.parse(text) : undefined;
      if (body === undefined && response === undefined) continue;
      found.set(name, stable({ request: body, response }));
    }
    expect(cloud.api.errors).toEqual([]);
  } finally {
    await cloud.api.close();
  }
  return found;
}

/** Removes duplicate requests and responses. */
function distinct(examples: readonly Example[]): readonly Example[] {
  const seen = new Set<string>();
  const once = (kind: keyof Example, value: unknown) => {
    const text = `${kind} ${JSON.stringify(value)}`;
    if (seen.has(text)) return undefined;
    seen.add(text);
    return value;
  };
  return examples
    .map(({ request, response }) => ({ request: once('request', request), response: once('response', response) }))
    .filter(({ request, response }) => request !== undefined || response !== undefined);
}

describe('the examples of the documents', () => {
  it.skipIf(inject('database') === 'postgres')('equal the responses of the API', { timeout: 120_000 }, async () => {
    const recordings: ReadonlyMap<string, Example>[] = [];
    for (const version of recordedAt) recordings.push(await record(version));
    const lines = [...new Set(recordings.flatMap((found) => [...found.keys()]))]
      .sort()
      .map((name) => `  ${name}: ${JSON.stringify(distinct(recordings.flatMap((found) => found.get(name) ?? [])))},\n`);
    await expect(`${head}${lines.join('')}});\n`).toMatchFileSnapshot(file);
  });

  const shown = (name: string, at: string) =>
    exampleAt(
      computeApiDescription.exampleOf,
      operations.find((each) => nameOf(each) === name && existsAt(each, Version.of(at)))!,
      Version.of(at),
    );

  it.each(recordedAt)('exist at %s for all operations with a body, and match the schemas', (text) => {
    const version = Version.of(text);
    const missing: string[] = [];
    for (const operation of servedAt(text)) {
      const { status, body, reply } = operationShape(operation, version)!;
      if (status === 410) continue;
      const example = exampleAt(computeApiDescription.exampleOf, operation, version);
      if (body && example?.request === undefined) missing.push(`${nameOf(operation)}: request`);
      if (reply && example?.response === undefined) missing.push(`${nameOf(operation)}: answer`);
    }
    expect(missing.filter((part) => !WITHOUT.includes(part))).toEqual([]);
  });

  it('appear at other versions only if these versions accept the examples', () => {
    expect(shown('showServer', NEWEST)?.response).toHaveProperty('server.pinned_availability_zone');
    expect(shown('showServer', '2.53')?.response).not.toHaveProperty('server.pinned_availability_zone');
    expect(shown('showServer', '2.1')?.response).not.toHaveProperty('server.tags');
    expect(shown('rebootServer', '2.1')).toEqual({ request: { reboot: { type: 'SOFT' } } });
    expect(shown('createServerGroup', '2.53')?.request).toHaveProperty('server_group.policies');
    expect(shown('showServer', '2.30')).toBeUndefined();
  });

  it('are in the documents', () => {
    const { paths } = openApi(operations, { ...computeApiDescription, version: NEWEST }) as any;
    const { content } = paths['/servers/{id}'].get.responses['200'];
    expect(content['application/json'].examples.showServer.value).toEqual(shown('showServer', NEWEST)?.response);
    const actions = paths['/servers/{id}/action'].post.requestBody.content['application/json'].examples;
    expect(actions.resizeServer.value).toEqual({ resize: { flavorRef: '2' } });
  });
});
