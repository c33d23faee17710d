import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { TestCloud } from '../src/index.js';
import { readHar } from '../src/recording/har.js';
import { HarFileWriter } from '../src/recording/har-file-writer.js';
import { type Recorder, startRecorder } from '../src/recording/recorder.js';
import { shapeDifferences } from '../src/recording/shape.js';
import { Upstream } from '../src/recording/upstream.js';
import { formatVerification, verifyRecording } from '../src/recording/verify.js';
import { cloudUnderTest } from './clouds.js';
import { CommandLines, hasClient, words } from './long/e2e/command-lines.js';

const folder = mkdtempSync(join(tmpdir(), 'apistrata-recording-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const recorders: Recorder[] = [];
afterEach(async () => {
  await Promise.all(recorders.splice(0).map((recorder) => recorder.stop()));
});

let files = 0;
async function recorderOf(cloud: Pick<TestCloud, 'authUrl'>) {
  const file = join(folder, `${++files}.har`);
  const recorder = await startRecorder({ file, authUrl: cloud.authUrl, port: 0 });
  recorders.push(recorder);
  return { recorder, file, url: recorder.authUrl.replace('/identity/v3', '') };
}

const PASSWORD = 'correct horse battery staple';

/** Logs in at a URL, as SDKs do, and returns the token with the catalog. */
async function logIn(url: string, user = 'admin', password = 'secret', project = 'demo') {
  const domain = { id: 'default' };
  const identity = { methods: ['password'], password: { user: { name: user, password, domain } } };
  const response = await fetch(`${url}/identity/v3/auth/tokens`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ auth: { identity, scope: { project: { name: project, domain } } } }),
  });
  const { token } = (await response.json()) as { token: any };
  return { secret: response.headers.get('x-subject-token')!, token };
}

function clientAt(url: string, token: string) {
  return async (method: string, path: string, body?: unknown, type = 'application/json') => {
    const bytes =
      body instanceof Uint8Array ? new Uint8Array(body) : body === undefined ? undefined : JSON.stringify(body);
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { 'X-Auth-Token': token, ...(bytes !== undefined && { 'Content-Type': type }) },
      body: bytes,
    });
    return { status: response.status, text: await response.text() };
  };
}

describe('the recorder', () => {
  it('redirects clients to itself, forwards all requests, and stores no secret', async () => {
    const cloud = await cloudUnderTest();
    const { recorder, file, url } = await recorderOf(cloud);
    const { secret, token } = await logIn(url);
    const addresses = token.catalog.flatMap(({ endpoints }: any) => endpoints.map((endpoint: any) => endpoint.url));
    expect(addresses.length).toBeGreaterThan(10);
    for (const address of addresses) expect(address.startsWith(`${url}/`), address).toBe(true);

    const send = clientAt(url, secret);
    await send('POST', '/identity/v3/users', { user: { name: 'ada', password: PASSWORD } });
    await send('GET', `/identity/v3/auth/tokens?token=${secret}`);
    const image = JSON.parse(
      (await send('POST', '/image/v2/images', { name: 'mine', disk_format: 'raw', container_format: 'bare' })).text,
    );
    const bytes = new TextEncoder().encode('the bytes of an image, for the client to find again');
    expect((await send('PUT', `/image/v2/images/${image.id}/file`, bytes, 'application/octet-stream')).status).toBe(
      204,
    );
    expect((await send('GET', `/image/v2/images/${image.id}/file`)).text).toBe(new TextDecoder().decode(bytes));
    await recorder.stop();

    const text = readFileSync(file, 'utf8');
    expect(text).not.toContain(secret);
    expect(text).not.toContain(PASSWORD);
    const { log } = await readHar(file);
    expect(log.entries.map(({ request }) => `${request.method} ${new URL(request.url).pathname}`)).toEqual([
      'POST /identity/v3/auth/tokens',
      'POST /identity/v3/users',
      'GET /identity/v3/auth/tokens',
      'POST /image/v2/images',
      `PUT /image/v2/images/${image.id}/file`,
      `GET /image/v2/images/${image.id}/file`,
    ]);
    // The log shows which requests used the same token, but not the token itself.
    const [login, user] = log.entries;
    const subject = login!.response.headers.find(({ name }) => name === 'x-subject-token')!.value;
    expect(subject).toMatch(/^\*\*\*\d+$/);
    expect(JSON.parse(login!.request.postData!.text).auth.identity.password.user.password).toMatch(/^\*\*\*\d+$/);
    expect(user!.request.headers).toContainEqual({ name: 'x-auth-token', value: subject });
    expect(statSync(file).mode & 0o077).toBe(0);
  });

  it('returns an error for an unknown service, and if the cloud does not respond', async () => {
    const cloud = await cloudUnderTest();
    const { url } = await recorderOf(cloud);
    const unknown = await fetch(`${url}/compute/v2.1/servers`);
    expect(unknown.status).toBe(503);
    expect(await unknown.text()).toContain('log in through the recorder first');
    const anonymous = await recorderOf({ authUrl: 'http://127.0.0.1:1/v3' });
    const rejected = await fetch(`${anonymous.url}/identity/v3`);
    expect(rejected.status).toBe(502);
    expect(await rejected.text()).toContain('does not respond');
  });

  it('writes a file that is complete after every entry', async () => {
    const file = join(folder, 'whole.har');
    const writer = await HarFileWriter.create(file);
    const entry = { startedDateTime: 'now', request: { url: 'ü' } } as any;
    for (const count of [0, 1, 2]) {
      expect((await readHar(file)).log.entries).toHaveLength(count);
      await writer.add(entry);
    }
    await Promise.all([writer.add(entry), writer.add(entry)]);
    await writer.close();
    expect((await readHar(file)).log.entries).toHaveLength(5);
    await expect(readHar(new URL(import.meta.url).pathname)).rejects.toThrow('is not a HAR file');
  });

  it('writes later entries after one could not be written', async () => {
    const file = join(folder, 'resumed.har');
    const writer = await HarFileWriter.create(file);
    const entry = (url: string) => ({ request: { url } }) as any;
    await writer.add(entry('first'));
    const probe = await open(file, 'r+');
    const prototype: FileHandle = Object.getPrototypeOf(probe);
    const { write } = prototype;
    const failure = vi.spyOn(prototype, 'write').mockImplementationOnce(async function (
      this: FileHandle,
      text: string,
      at: number,
    ) {
      await write.call(this, text.slice(0, 20), at);
      throw new Error('disk full');
    } as any);
    onTestFinished(() => failure.mockRestore());
    await probe.close();
    await expect(writer.add(entry('a long url that is lost'))).rejects.toThrow('disk full');
    const urls = async () => (await readHar(file)).log.entries.map(({ request }) => request.url);
    expect(await urls()).toEqual(['first']);
    await writer.add(entry('x'));
    await writer.close();
    expect(await urls()).toEqual(['first', 'x']);
    expect(writer.count).toBe(2);
  });

  it('recognizes the addresses of one region and all interfaces, even if one is a prefix of another', () => {
    const upstream = new Upstream({
      authUrl: 'https://cloud.test/identity/v3',
      region: 'north',
      interface: 'internal',
    });
    const endpoint = (url: string, interfaceName: string, region: string) => ({
      url,
      interface: interfaceName,
      region_id: region,
    });
    upstream.learn({
      token: {
        catalog: [
          {
            type: 'compute',
            endpoints: [
              endpoint('http://far:8774/v2.1', 'internal', 'south'),
              endpoint('https://cloud.test/compute/v2.1', 'public', 'north'),
              endpoint('http://in:8774/v2.1', 'internal', 'north'),
            ],
          },
          { type: 'volumev3', endpoints: [endpoint('http://in:8776/v3/%(project_id)s', 'internal', 'north')] },
          { type: 'object-store', endpoints: [endpoint('http://in/v1/AUTH_p', 'internal', 'north')] },
        ],
      },
    });
    expect(upstream.target('/compute/v2.1/servers?limit=1')).toBe('http://in:8774/v2.1/servers?limit=1');
    expect(upstream.target('/volume/v3/p/volumes')).toBe('http://in:8776/v3/p/volumes');
    expect(upstream.target('/object-store/v1/AUTH_p')).toBe('http://in/v1/AUTH_p');
    expect(upstream.target('/network/v2.0')).toBeUndefined();
    const text =
      '["https://cloud.test/compute/v2.1","http://in:8774","http://in:87745/","http://in/v1","http://far:8774/v2.1"]';
    expect(JSON.parse(upstream.rewrite(text, 'http://here'))).toEqual([
      'http://here/compute/v2.1',
      'http://here/compute',
      'http://in:87745/',
      'http://here/object-store/v1',
      'http://far:8774/v2.1',
    ]);
  });
});

describe('the comparison', () => {
  it.each([
    ['a value', { a: 1 }, { a: 2 }, []],
    ['null', { a: null }, { a: { b: 1 } }, []],
    ['a type', { a: '1' }, { a: 1 }, [['$.a', 'string', 'number']]],
    ['a missing field', { a: 1, b: 1 }, { a: 1 }, [['$.b', 'number', 'absent']]],
    ['a field too many', { a: 1 }, { a: 1, b: [] }, [['$.b', 'absent', 'list']]],
    ['elements of lists as one', { a: [{ b: 1 }, { c: 1 }] }, { a: [{ b: 1, c: 1 }, { b: 2 }] }, []],
    [
      'inside of elements',
      { a: [{ b: [{ c: 1 }] }] },
      { a: [{ b: [] }, { b: [{ c: '1' }] }] },
      [['$.a[].b[].c', 'number', 'string']],
    ],
    ['an empty list', { a: [] }, { a: [1] }, []],
    ['keys that are users own', { metadata: { x: '1' } }, { metadata: { y: '1' } }, []],
    [
      'their values',
      { addresses: { net: [{ a: 1 }] } },
      { addresses: { other: [{}] } },
      [['$.addresses.*[].a', 'number', 'absent']],
    ],
  ])('reports %s', (_, recorded, actual, expected) => {
    expect(shapeDifferences(recorded, actual).map(({ where, recorded, actual }) => [where, recorded, actual])).toEqual(
      expected,
    );
  });
});

describe.skipIf(!hasClient('openstack'))('a recording of an unmodified client', () => {
  let file: string;
  const lines = new CommandLines();
  afterAll(() => lines.close());

  beforeAll(async () => {
    const { startCloud } = await import('../src/index.js');
    const cloud = await startCloud({ transientMs: 150 });
    // The other cloud does not initially have these resources.
    const request = clientAt(cloud.url, cloud.token());
    await request('POST', '/compute/v2.1/flavors', { flavor: { name: 'odd', ram: 300, vcpus: 3, disk: 1 } });
    const { recorder, file: written } = await recorderOf(cloud);
    file = written;
    const say = async (line: string, as: Record<string, string> = {}) => {
      const result = await lines.run('openstack', words(line), { ...cloud.env, OS_AUTH_URL: recorder.authUrl, ...as });
      expect(result.code, `${line}\n${result.stderr}`).toBe(0);
    };
    await say('flavor list');
    await say('network create --description x blue');
    await say('subnet create --network blue --subnet-range 10.9.0.0/24 blue-4');
    await say('server create --wait --flavor odd --image cirros --network blue one');
    await say('server show one');
    await say('server set --property colour=red one');
    await say('volume create --size 1 disk');
    await say('server add volume one disk');
    await say('server list --long');
    await say('server delete --wait one');
    await say(`user create --password "${PASSWORD}" ada`);
    await say('role add --user ada --project demo member');
    await say('server list', { OS_USERNAME: 'ada', OS_PASSWORD: PASSWORD });
    await recorder.stop();
    await cloud.stop();
  });

  it('contains no token and no password', async () => {
    const text = readFileSync(file, 'utf8');
    expect(text).not.toContain(PASSWORD);
    const { log } = await readHar(file);
    const tokens = log.entries.flatMap(({ request, response }) =>
      [...request.headers, ...response.headers].filter(({ name }) => /token$/.test(name)).map(({ value }) => value),
    );
    expect(tokens.length).toBeGreaterThan(10);
    for (const token of tokens) expect(token).toMatch(/^\*\*\*\d+$/);
  });

  it('matches another cloud', { timeout: 120_000 }, async () => {
    const cloud = await cloudUnderTest();
    const verification = await verifyRecording(await readHar(file), cloud);
    expect(verification.differences).toEqual([]);
    expect(verification.compared).toBeGreaterThan(40);
    expect(verification.skipped).toBe(0);
  });

  it('reports where a cloud has changed, with both values', { timeout: 120_000 }, async () => {
    const cloud = await cloudUnderTest();
    cloud.rules.http({
      match: { method: 'POST', path: /volumes$/ },
      apply: true,
      status: 202,
      body: { volume: { name: 'disk', size: '1' } },
    });
    cloud.rules.http({ match: { method: 'POST', path: /metadata$/ }, status: 409 });
    const { differences } = await verifyRecording(await readHar(file), cloud);
    const about = (path: string, recorded: string, actual: unknown) =>
      expect(differences).toContainEqual(expect.objectContaining({ method: 'POST', where: path, recorded, actual }));
    about('status', '200', expect.stringMatching(/^409/));
    about('$.volume.size', 'number', 'string');
    about('$.volume.status', 'string', 'absent');
    expect(formatVerification({ compared: 9, skipped: 0, differences })).toMatch(
      /#\d+ POST \/compute\/v2.1\/servers\/[\w-]+\/metadata\n {4}status: recorded 200, actual 409/,
    );
  });
});
