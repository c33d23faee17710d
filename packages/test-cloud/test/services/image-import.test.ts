import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { CloudOptions } from '../../src/index.js';
import { type ApiResponse, clientOf, cloudUnderTest } from '../clouds.js';

const CONTENT = 'the content of an image';

/** A web server with one file; other paths return 404. */
async function webServer(): Promise<string> {
  const server = createServer((req, res) => {
    if (req.url === '/image.raw') res.end(CONTENT);
    else res.writeHead(404).end('missing');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The message of an HTML error. */
const textOf = ({ body }: ApiResponse): string => body.replaceAll(/&#x27;|&#39;/g, "'");

async function images(options: CloudOptions = {}) {
  const cloud = await cloudUnderTest(options);
  const request = clientOf(cloud);
  const create = async (fields: object = { disk_format: 'raw', container_format: 'bare' }) =>
    (await request('POST', '/image/v2/images', { name: 'i', ...fields })).body.id as string;
  const load = (id: string, name: string, more: object = {}, rest: object = {}) =>
    request('POST', `/image/v2/images/${id}/import`, { method: { name, ...more }, ...rest });
  const shown = async (id: string) => (await request('GET', `/image/v2/images/${id}`)).body;
  const stage = (id: string) =>
    fetch(`${cloud.url}/image/v2/images/${id}/stage`, {
      method: 'PUT',
      headers: { 'X-Auth-Token': cloud.token(), 'Content-Type': 'application/octet-stream' },
      body: 'bytes',
    });
  return { cloud, request, create, load, shown, stage };
}

describe('imports', () => {
  it('download the content from a web server', async () => {
    const { cloud, request, create, load, shown } = await images();
    const web = await webServer();
    const id = await create();
    expect((await load(id, 'web-download', { uri: `${web}/image.raw` })).status).toBe(202);
    expect(await shown(id)).toMatchObject({ status: 'active', size: CONTENT.length });
    const headers = { 'X-Auth-Token': cloud.token() };
    const file = await fetch(`${cloud.url}/image/v2/images/${id}/file`, { headers });
    expect(await file.text()).toBe(CONTENT);
    expect((await request('GET', `/image/v2/images/${id}/tasks`)).body.tasks).toMatchObject([
      { type: 'api_image_import', status: 'success', result: { image_id: id } },
    ]);
  });

  it.each([
    ['a missing file', (web: string) => `${web}/missing`, /returned 404$/],
    ['a server that is down', () => 'http://127.0.0.1:1/x', /failed: /],
  ])('leave the image queued after a download from %s', async (_, uri, message) => {
    const { request, create, load, shown } = await images();
    const id = await create();
    expect((await load(id, 'web-download', { uri: uri(await webServer()) })).status).toBe(202);
    expect(await shown(id)).toMatchObject({ status: 'queued', size: null });
    expect((await request('GET', `/image/v2/images/${id}/tasks`)).body.tasks).toMatchObject([
      { status: 'failure', message: expect.stringMatching(message), result: null },
    ]);
  });

  it.each([undefined, 'file:///etc/passwd', 'ftp://127.0.0.1/x', 'nothing', 5])(
    'do not download from %j',
    async (uri) => {
      const { create, load } = await images();
      const rejected = await load(await create(), 'web-download', { uri });
      expect(rejected.status).toBe(400);
      expect(textOf(rejected)).toContain('URI for web-download does not pass filtering');
    },
  );

  it('do not download if the cloud listens beyond loopback', async () => {
    const { create, load } = await images({ host: '0.0.0.0' });
    expect((await load(await create(), 'web-download', { uri: `${await webServer()}/image.raw` })).status).toBe(400);
  });

  it('must have the status that their method requires', async () => {
    const { create, load, stage } = await images();
    const id = await create();
    const uri = 'http://127.0.0.1:1/x';
    expect((await load(id, 'glance-direct')).status).toBe(409);
    expect((await load(id, 'copy-image')).status).toBe(409);
    expect((await stage(id)).status).toBe(204);
    expect((await load(id, 'web-download', { uri })).status).toBe(409);
    expect((await load(id, 'glance-direct')).status).toBe(202);
    for (const [method, more] of [
      ['glance-direct', {}],
      ['web-download', { uri }],
    ] as const)
      expect((await load(id, method, more)).status).toBe(409);
  });

  it.each([
    ['teleport', {}, {}, 400, "Unknown import method name 'teleport'."],
    ['glance-direct', {}, { stores: ['other'] }, 409, "Unknown scheme 'other' found in URI"],
    ['glance-direct', {}, { all_stores: 'yes' }, 400, "'all_stores' must be boolean value only"],
  ])('reject the method %s with %j, %j', async (name, more, rest, status, message) => {
    const { create, load, stage } = await images();
    const id = await create();
    await stage(id);
    const rejected = await load(id, name, more, rest);
    expect(rejected.status).toBe(status);
    expect(textOf(rejected)).toContain(message);
  });

  it.each([
    [{ disk_format: 'raw' }, "'container_format' needs to be set before import"],
    [{ container_format: 'bare' }, "'disk_format' needs to be set before import"],
  ])('require both formats: %j', async (fields, message) => {
    const { create, load } = await images();
    const rejected = await load(await create(fields), 'web-download', { uri: 'http://127.0.0.1:1/x' });
    expect(rejected.status).toBe(409);
    expect(textOf(rejected)).toContain(message);
  });

  it('copy active images only to stores that lack them', async () => {
    const { request, create, load, shown, stage } = await images();
    const id = await create();
    await stage(id);
    await load(id, 'glance-direct');
    const rejected = await load(id, 'copy-image', {}, { stores: ['embedded'] });
    expect([rejected.status, textOf(rejected)]).toEqual([
      400,
      expect.stringContaining("already present at store 'embedded'"),
    ]);
    expect((await load(id, 'copy-image', {}, { all_stores: true })).status).toBe(202);
    expect(await shown(id)).toMatchObject({ status: 'active', size: 5 });
    const { body } = await request('GET', '/image/v2/info/import');
    expect(body['import-methods'].value).toEqual(['glance-direct', 'web-download', 'copy-image']);
  });
});

describe('tasks of administrators', () => {
  const input = (uri: string) => ({
    import_from: uri,
    import_from_format: 'raw',
    image_properties: { name: 'loaded', disk_format: 'raw', container_format: 'bare' },
  });

  it('import images', async () => {
    const { request, shown } = await images();
    const task = { type: 'import', input: input(`${await webServer()}/image.raw`) };
    const created = await request('POST', '/image/v2/tasks', task);
    expect(created).toMatchObject({ status: 201, body: { status: 'pending', result: null } });
    const done = (await request('GET', `/image/v2/tasks/${created.body.id}`)).body;
    expect(done).toMatchObject({ type: 'import', status: 'success', result: { image_id: expect.any(String) } });
    expect(await shown(done.result.image_id)).toMatchObject({ name: 'loaded', status: 'active', size: CONTENT.length });
  });

  it('leave no image if the download fails', async () => {
    const { request } = await images();
    const before = (await request('GET', '/image/v2/images')).body.images.length;
    const created = await request('POST', '/image/v2/tasks', { type: 'import', input: input('http://127.0.0.1:1/x') });
    expect((await request('GET', `/image/v2/tasks/${created.body.id}`)).body).toMatchObject({
      status: 'failure',
      message: expect.stringContaining('Download of http://127.0.0.1:1/x failed'),
    });
    expect((await request('GET', '/image/v2/images')).body.images).toHaveLength(before);
  });

  it('fail without complete input, and have a supported type', async () => {
    const { request } = await images();
    const post = (task: object) => request('POST', '/image/v2/tasks', task);
    const failed = await post({ type: 'import', input: { import_from: 'http://127.0.0.1:1/x' } });
    expect((await request('GET', `/image/v2/tasks/${failed.body.id}`)).body).toMatchObject({
      status: 'failure',
      message: "Input does not contain 'import_from_format' field",
    });
    const invalid = { ...input('http://127.0.0.1:1/x'), image_properties: { name: 'x', min_disk: 'much' } };
    const rejected = await post({ type: 'import', input: invalid });
    expect((await request('GET', `/image/v2/tasks/${rejected.body.id}`)).body.message).toContain(
      "'much' is not of type",
    );
    for (const [task, message] of [
      [{ type: 'clone', input: {} }, "'clone' is not one of ['import', 'api_image_import', 'location_import']"],
      [{ type: 'import' }, "Task 'input' is required"],
      [{ type: 'import', input: { import_from: 'file:///etc/passwd' } }, 'does not pass filtering'],
    ] as const) {
      const response = await post(task);
      expect([response.status, textOf(response)]).toEqual([400, expect.stringContaining(message)]);
    }
    expect((await request('DELETE', `/image/v2/tasks/${failed.body.id}`)).status).toBe(405);
  });
});
