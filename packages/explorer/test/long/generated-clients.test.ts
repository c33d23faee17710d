import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { computeApiDescription, operations } from '@apistrata/compute-router';
import { openApi } from '@apistrata/microversion-router';
import { startCloud, type TestCloud } from '@apistrata/test-cloud';
import { createClient } from '@hey-api/openapi-ts';
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compile } from '../compile.js';

const IMAGE = '70a599e0-31e7-49b7-b260-868f441e862b';

/**
 * The steps of a program that uses a client. They are the same for all clients and versions, and send requests through
 * the client's implementation of `Calls`.
 */
const day = (version: string) => `
  type Status = { readonly status: string };
  export interface Calls {
    create(name: string): Promise<string>;
    show(id: string): Promise<Status | undefined>;
    resize(id: string): Promise<void>;
    confirm(id: string): Promise<void>;
    page(limit: string, marker: string | undefined): Promise<readonly { id: string }[]>;
    remove(id: string): Promise<void>;
  }
  export const version = '${version}';
  async function until(calls: Calls, id: string, wanted: string | undefined): Promise<void> {
    for (let attempt = 0; attempt < 400; attempt++) {
      const status = (await calls.show(id))?.status;
      if (status === wanted) return;
      if (status === 'ERROR') throw new Error('the server is in error');
      await new Promise<void>((go) => setTimeout(go, 25));
    }
    throw new Error('the server never became ' + wanted);
  }
  export async function day(calls: Calls): Promise<{ created: string[]; listed: string[]; pages: number }> {
    const created: string[] = [];
    for (const name of ['one', 'two', 'three']) created.push(await calls.create(name));
    for (const id of created) await until(calls, id, 'ACTIVE');
    await calls.resize(created[0]!);
    await until(calls, created[0]!, 'VERIFY_RESIZE');
    await calls.confirm(created[0]!);
    await until(calls, created[0]!, 'ACTIVE');
    const listed: string[] = [];
    let pages = 0;
    for (;;) {
      const page = await calls.page('2', listed.at(-1));
      if (page.length === 0) break;
      pages++;
      listed.push(...page.map(({ id }) => id));
    }
    for (const id of created) await calls.remove(id);
    for (const id of created) await until(calls, id, undefined);
    return { created, listed, pages };
  }
`;

/** The body of a create request. The field `networks` is required since 2.37. */
const creation = (version: string) =>
  `{ server: { name, imageRef: '${IMAGE}', flavorRef: '1'${Number(version.slice(2)) >= 37 ? ", networks: 'none'" : ''} } }`;

const withFetch = (version: string) => `
  import createClient from 'openapi-fetch';
  import { type Calls, day, version } from './day.js';
  import type { paths } from './schema.js';

  export function run(baseUrl: string, token: string) {
    const headers = { 'X-Auth-Token': token, 'OpenStack-API-Version': 'compute ' + version };
    const api = createClient<paths>({ baseUrl, headers });
    const failed = (error: { [kind: string]: { code: number; message: string } }) =>
      new Error(Object.values(error).map(({ code, message }) => code + ' ' + message).join());
    const calls: Calls = {
      async create(name) {
        const { data, error } = await api.POST('/servers', { body: ${creation(version)} });
        if (error) throw failed(error);
        return data.server.id;
      },
      async show(id) {
        const { data, error, response } = await api.GET('/servers/{id}', { params: { path: { id } } });
        if (response.status === 404) return undefined;
        if (error) throw failed(error);
        return data.server;
      },
      async resize(id) {
        const path = { id };
        const { error } = await api.POST('/servers/{id}/action', { params: { path }, body: { resize: { flavorRef: '2' } } });
        if (error) throw failed(error);
      },
      async confirm(id) {
        const path = { id };
        const { error } = await api.POST('/servers/{id}/action', { params: { path }, body: { confirmResize: null } });
        if (error) throw failed(error);
      },
      async page(limit, marker) {
        const query = { limit: [Number(limit)], ...(marker && { marker: [marker] }) };
        const { data, error } = await api.GET('/servers', { params: { query } });
        if (error) throw failed(error);
        return data.servers;
      },
      async remove(id) {
        const { error } = await api.DELETE('/servers/{id}', { params: { path: { id } } });
        if (error) throw failed(error);
      },
    };
    return day(calls);
  }
  export const wrong = (api: ReturnType<typeof createClient<paths>>) =>
    // @ts-expect-error a server needs a flavor
    api.POST('/servers', { body: { server: { name: 'without a flavor' } } });
`;

const withSdk = (version: string) => `
  import { type Calls, day, version } from './day.js';
  import { createClient } from './sdk/client/index.js';
  import {
    confirmServerResize,
    createServer,
    deleteServer,
    listServers,
    resizeServer,
    showServer,
  } from './sdk/index.js';

  export function run(baseUrl: string, token: string) {
    const headers = { 'X-OpenStack-Nova-API-Version': version };
    const client = createClient({ baseUrl, headers, auth: token });
    const calls: Calls = {
      async create(name) {
        const { data } = await createServer({ client, throwOnError: true, body: ${creation(version)} });
        return data.server.id;
      },
      async show(id) {
        const { data, response } = await showServer({ client, path: { id } });
        if (response.status === 404) return undefined;
        if (!data) throw new Error('show: ' + response.status);
        return data.server;
      },
      async resize(id) {
        await resizeServer({ client, throwOnError: true, path: { id }, body: { resize: { flavorRef: '2' } } });
      },
      async confirm(id) {
        await confirmServerResize({ client, throwOnError: true, path: { id }, body: { confirmResize: null } });
      },
      async page(limit, marker) {
        const query = { limit: [Number(limit)], ...(marker && { marker: [marker] }) };
        return (await listServers({ client, throwOnError: true, query })).data.servers;
      },
      async remove(id) {
        await deleteServer({ client, throwOnError: true, path: { id } });
      },
    };
    return day(calls);
  }
`;

const versions = ['2.1', '2.53', '2.100'];

describe('clients generated from the OpenAPI documents of the compute API', () => {
  let cloud: TestCloud;
  let folder: string;

  beforeAll(async () => {
    cloud = await startCloud();
    folder = mkdtempSync(join(tmpdir(), 'generated-clients-'));
    symlinkSync(join(import.meta.dirname, '../../node_modules'), join(folder, 'node_modules'), 'dir');
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  }, 120_000);
  afterAll(async () => {
    await cloud.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('compile strictly at every version for which they are generated', { timeout: 300_000 }, async () => {
    const files = [];
    for (const version of versions) {
      const place = join(folder, version);
      mkdirSync(place);
      const document = (actions: 'one-of' | 'separate') =>
        structuredClone(openApi(operations, { ...computeApiDescription, version, actions }));
      writeFileSync(join(place, 'schema.ts'), astToString(await openapiTS(document('one-of') as unknown as OpenAPI3)));
      await createClient({
        // Actions have separate paths, because this generator creates one function for each path and method.
        input: document('separate'),
        output: { path: join(place, 'sdk'), importFileExtension: '.js' },
        plugins: ['@hey-api/typescript', '@hey-api/sdk', '@hey-api/client-fetch'],
        logs: { level: 'silent' },
      });
      const programs = { day: day(version), 'with-fetch': withFetch(version), 'with-sdk': withSdk(version) };
      for (const [name, text] of Object.entries(programs)) {
        files.push(join(place, `${name}.ts`));
        writeFileSync(files.at(-1)!, text);
      }
    }
    expect(compile(files, { outDir: join(folder, 'out'), rootDir: folder })).toEqual([]);
    writeFileSync(join(folder, 'out', 'package.json'), '{"type":"module"}');
  });

  it.each(versions.flatMap((version) => ['with-fetch', 'with-sdk'].map((client) => [version, client] as const)))(
    'at %s create, wait, show, resize, list in pages and delete: %s',
    async (version, client) => {
      const { run } = await import(pathToFileURL(join(folder, 'out', version, `${client}.js`)).href);
      const { created, listed, pages } = await run(`${cloud.url}/compute/v2.1`, cloud.token('admin', 'demo'));
      expect(new Set(listed)).toEqual(new Set(created));
      expect([listed.length, pages]).toEqual([3, 2]);
      const seen = cloud.requests({ method: 'POST' }).filter(({ url }) => url.includes(created[0]));
      expect(seen.map((entry) => [entry.version, entry.status])).toEqual([
        [version, 202],
        [version, 204],
      ]);
    },
  );
});
