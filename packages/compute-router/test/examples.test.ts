import { join } from 'node:path';
import { Version } from '@apistrata/microversion';
import {
  type Example,
  exampleAt,
  existsAt,
  nameOf,
  openApi,
  operationKey,
  outlineOf,
} from '@apistrata/microversion/router';
import { describe, expect, inject, it } from 'vitest';
import { computeApiDescription, operations } from '../src/index.js';
import { ask, pathOf } from './contract/ask.js';
import { type Call, calls } from './contract/calls.js';
import { Cloud, OWNER } from './contract/cloud.js';
import { keyOf, type ListedOperation, existsAt as listedAt, listedOperations } from './contract/reference.js';
import { stable } from './stable-example.js';

const VERSION = '2.100';
const version = Version.of(VERSION);
const file = join(import.meta.dirname, '../src/description/recorded-examples.ts');

const head = `// Written by test/examples.test.ts from answers of the API at ${VERSION}; \`vitest --update\` writes it anew.
import type { Example } from '@apistrata/microversion/router';

/** A request and its answer by operation name, made when it is asked for. */
export const recordedExamples = (): Readonly<Record<string, Example>> => ({
`;

/** What has to be there so that a list shows something. */
const shownBy: Readonly<Record<string, (cloud: Cloud) => Promise<unknown>>> = {
  '/servers': (cloud) => cloud.connected(),
  '/servers/detail': (cloud) => cloud.connected(),
  '/os-keypairs': (cloud) => cloud.keypair(),
  '/os-server-groups': (cloud) => cloud.group(),
  '/os-aggregates': (cloud) => cloud.aggregate('host1'),
  '/os-migrations': (cloud) => cloud.server(['migrate']),
};

/** Where the contract's parent server has nothing to show: one that has. */
const parents: Readonly<Record<string, (cloud: Cloud) => Promise<Readonly<Record<string, string>>>>> = {
  'GET /servers/{id}': async (cloud) => ({ id: (await cloud.connected()).id }),
  'GET /servers/{server_id}/ips': async (cloud) => ({ server_id: (await cloud.connected()).id }),
  'GET /servers/{server_id}/os-interface': async (cloud) => ({ server_id: (await cloud.connected()).id }),
  'GET /servers/{server_id}/os-volume_attachments': (cloud) => cloud.attached(),
  'GET /servers/{server_id}/metadata': async (cloud) => ({
    server_id: (await cloud.server([], { metadata: { colour: 'blue' } })).id,
  }),
};

/** What counts goes first, then lists, while little but what they need is there. */
function rank({ method, path }: Pick<ListedOperation, 'method' | 'path'>): number {
  if (method !== 'GET') return 2;
  if (/limits|quota|usage/.test(path)) return 0;
  return path.includes('{') ? 2 : 1;
}

const inOrder = listedOperations
  .filter((listed) => !listed.removed && !listed.base && listedAt(listed, VERSION))
  .sort((one, other) => rank(one) - rank(other));

/** Answers and requests that are always empty, though there is a schema for them at some version. */
const WITHOUT: readonly string[] = ['evacuateServer: answer', 'addServerTag: request'];

const nameByKey = new Map(
  operations.filter((each) => existsAt(each, version)).map((each) => [operationKey(each), nameOf(each)]),
);

async function record(): Promise<ReadonlyMap<string, Example>> {
  const cloud = await Cloud.open();
  const found = new Map<string, Example>();
  try {
    await cloud.connected();
    for (const listed of inOrder) {
      const key = keyOf(listed);
      const name = nameByKey.get(key);
      if (name === undefined) continue;
      if (listed.method === 'GET') await shownBy[listed.path]?.(cloud);
      const call: Call = parents[key] ? { params: await parents[key](cloud) } : await calls[key]!(cloud, VERSION);
      const { params, query, body } = call;
      const path = pathOf(listed, params);
      const { status, text } = await ask(cloud.api, listed.method, {
        token: OWNER,
        version: VERSION,
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

describe('the examples of the documents', () => {
  it.skipIf(inject('database') === 'postgres')('are what the API answers', { timeout: 120_000 }, async () => {
    const lines = [...(await record())]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, example]) => `  ${name}: ${JSON.stringify(example)},\n`);
    await expect(`${head}${lines.join('')}});\n`).toMatchFileSnapshot(file);
  });

  const present = operations.filter((each) => existsAt(each, version) && !nameOf(each).endsWith('OfVolumesBoot'));
  const shown = (name: string, at: string) =>
    exampleAt(
      computeApiDescription.exampleOf,
      operations.find((each) => nameOf(each) === name && existsAt(each, Version.of(at)))!,
      Version.of(at),
    );

  it('are accepted by the schemas of the version they were recorded at, and are there for all that have a body', () => {
    const missing: string[] = [];
    for (const operation of present) {
      const name = nameOf(operation);
      const example = exampleAt(computeApiDescription.exampleOf, operation, version);
      expect([name, example]).toEqual([name, computeApiDescription.exampleOf?.(operation, version)]);
      const { status, body, reply } = outlineOf(operation, version)!;
      if (status === 410) continue;
      if (body && example?.request === undefined) missing.push(`${name}: request`);
      if (reply && example?.response === undefined) missing.push(`${name}: answer`);
    }
    expect(missing).toEqual(WITHOUT);
  });

  it('are shown at other versions only where those accept them', () => {
    expect(shown('showServer', VERSION)?.response).toHaveProperty('server.pinned_availability_zone');
    expect(shown('showServer', '2.1')).toBeUndefined();
    expect(shown('rebootServer', '2.1')).toEqual({ request: { reboot: { type: 'SOFT' } } });
    expect(shown('createServerGroup', '2.53')?.request).toBeUndefined();
  });

  it('are in the documents', () => {
    const { paths } = openApi(operations, { ...computeApiDescription, version: VERSION }) as any;
    const { content } = paths['/servers/{id}'].get.responses['200'];
    expect(content['application/json'].examples.showServer.value).toEqual(shown('showServer', VERSION)?.response);
    const actions = paths['/servers/{id}/action'].post.requestBody.content['application/json'].examples;
    expect(actions.resizeServer.value).toEqual({ resize: { flavorRef: '2' } });
  });
});
