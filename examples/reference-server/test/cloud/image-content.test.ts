import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { startCloud } from './cloud-under-test.js';

const QCOW2 = Buffer.concat([Buffer.from('QFI\xfb', 'latin1'), Buffer.alloc(60_000, 1)]);
const ISO = Buffer.alloc(60_000);
ISO.write('CD001', 32_769);
const BYTES = { 'Content-Type': 'application/octet-stream' };

/** Starts a cloud, and returns functions that send requests as its administrator. */
async function startAsAdministrator(...args: readonly string[]) {
  const cloud = await startCloud(':memory:', '--driver', 'none', ...args);
  onTestFinished(() => cloud.stop());
  const token = await cloud.tokenOf(cloud.admin ?? expect.fail('no administrator'));
  const created = async (format: string) => {
    const image = { name: 'disk', disk_format: format, container_format: 'bare' };
    return (await cloud.send('post', '/image/v2/images', token, image)).body.id as string;
  };
  return {
    created,
    shown: async (id: string) => (await cloud.send('get', `/image/v2/images/${id}`, token)).body,
    upload: (id: string, content: Buffer) =>
      cloud.send('put', `/image/v2/images/${id}/file`, token, content as unknown as string, BYTES),
    /** Imports an image from a URL, and returns the import task. */
    async load(id: string, uri: string) {
      const method = { name: 'web-download', uri };
      const { status } = await cloud.send('post', `/image/v2/images/${id}/import`, token, { method });
      if (status !== 202) return { status };
      return (await cloud.send('get', `/image/v2/images/${id}/tasks`, token)).body.tasks.at(-1);
    },
  };
}

/** A web server with one file, and redirects to it and to any URL. */
async function webServer(file: Buffer): Promise<string> {
  const server = createServer((req, res) => {
    const url = new URL(req.url ?? '/', 'http://web.test');
    if (url.pathname === '/file') return res.end(file);
    if (url.pathname === '/loop') return res.writeHead(302, { Location: '/loop' }).end();
    if (url.pathname === '/moved')
      return res.writeHead(302, { Location: url.searchParams.get('to') ?? '/file' }).end('moved');
    return res.writeHead(404).end('missing');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it.each([
  ['qcow2', randomBytes(1_000)],
  ['qcow2', Buffer.alloc(0)],
  ['vmdk', QCOW2],
  ['raw', QCOW2],
  ['iso', Buffer.alloc(60_000)],
] as const)('rejects content that is not in the declared format %s', async (format, content) => {
  const { created, shown, upload } = await startAsAdministrator();
  const id = await created(format);
  const { status } = await upload(id, content);
  expect(status).toBe(400);
  expect(await shown(id)).toMatchObject({ status: 'queued', size: null });
});

it.each([
  ['qcow2', QCOW2],
  ['raw', randomBytes(70_000)],
  ['raw', ISO],
  ['iso', ISO],
  ['ari', randomBytes(10)],
] as const)('stores content in the declared format %s unchanged', async (format, content) => {
  const { created, shown, upload } = await startAsAdministrator();
  const id = await created(format);
  expect((await upload(id, content)).status).toBe(204);
  const os_hash_value = createHash('sha512').update(content).digest('hex');
  expect(await shown(id)).toMatchObject({ status: 'active', size: content.byteLength, os_hash_value });
});

it('imports a URL whose content has the checksum in the URL, even after redirects', async () => {
  const web = await webServer(QCOW2);
  const { created, shown, load } = await startAsAdministrator('--image-source', web);
  const sha256 = createHash('sha256').update(QCOW2).digest('hex');
  for (const path of ['file', `file#sha256=${sha256}`, `moved#sha256=${sha256.toUpperCase()}`]) {
    const id = await created('qcow2');
    expect(await load(id, `http://${web}/${path}`)).toMatchObject({ status: 'success' });
    expect(await shown(id)).toMatchObject({ status: 'active', size: QCOW2.byteLength });
  }
});

it.each([
  ['another checksum', `file#sha256=${'0'.repeat(64)}`, /the content has the sha256 checksum [0-9a-f]{64}, not 0{64}$/],
  ['a missing file', 'missing', /returned 404$/],
  ['endless redirects', 'loop', /redirects more than 5 times$/],
  ['a redirect to a private address', 'moved?to=http://169.254.169.254/', /which is not public/],
  ['a redirect to a file', 'moved?to=file:///etc/passwd', /which is not HTTP$/],
])('leaves the image queued after %s, and reports the reason', async (_, path, message) => {
  const web = await webServer(QCOW2);
  const { created, shown, load } = await startAsAdministrator('--image-source', web);
  const id = await created('qcow2');
  const task = await load(id, `http://${web}/${path}`);
  expect(task).toMatchObject({ status: 'failure', message: expect.stringMatching(message) });
  expect(await shown(id)).toMatchObject({ status: 'queued', size: null });
});

it('rejects imported content that is not in the declared format', async () => {
  const web = await webServer(QCOW2);
  const { created, load } = await startAsAdministrator('--image-source', web);
  const id = await created('vmdk');
  const task = await load(id, `http://${web}/file`);
  expect(task).toMatchObject({ status: 'failure', message: expect.stringMatching(/is not vmdk.*: it is qcow2$/) });
});

it('does not import from addresses of this computer, unless an option allows the host', async () => {
  const web = await webServer(QCOW2);
  const { created, load } = await startAsAdministrator();
  for (const host of [web, web.replace('127.0.0.1', 'localhost'), web.replace('127.0.0.1', '[::1]')]) {
    const task = await load(await created('qcow2'), `http://${host}/file`);
    expect(task).toMatchObject({ status: 'failure', message: expect.stringContaining('which is not public') });
  }
});

it.each(['#sha256=123', '#md4=aa', '#part'])('rejects %s, which is not a checksum', async (fragment) => {
  const { created, load } = await startAsAdministrator();
  expect(await load(await created('qcow2'), `http://127.0.0.1:1/${fragment}`)).toEqual({ status: 400 });
});
