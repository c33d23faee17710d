import { describe, expect, it } from 'vitest';
import { clientOf, cloudUnderTest, serverBody } from './clouds.js';

describe('rules for machines', () => {
  it('set a server to ERROR with the reason', async () => {
    const cloud = await cloudUnderTest();
    const request = clientOf(cloud);
    const rule = cloud.rules.machine({ match: { verb: 'spawn', name: /^bad-/ }, fail: 'no luck' });
    const unmatched = await request('POST', '/compute/v2.1/servers', serverBody({ name: 'good-1' }));
    const bad = await request('POST', '/compute/v2.1/servers', serverBody({ name: 'bad-1' }));
    await cloud.idle();
    const status = async ({ body }: typeof unmatched) =>
      (await request('GET', `/compute/v2.1/servers/${body.server.id}`)).body.server.status;
    expect([await status(unmatched), await status(bad)]).toEqual(['ACTIVE', 'ERROR']);
    expect(rule.calls).toBeGreaterThan(0);
  });

  it('block a step until it is released', async () => {
    const cloud = await cloudUnderTest();
    const request = clientOf(cloud);
    const rule = cloud.rules.machine({ match: { verb: 'spawn' }, hang: true });
    const { body } = await request('POST', '/compute/v2.1/servers', serverBody());
    const server = async () => (await request('GET', `/compute/v2.1/servers/${body.server.id}`)).body.server;
    expect((await server()).status).toBe('BUILD');
    rule.release();
    await cloud.idle();
    expect((await server()).status).toBe('ACTIVE');
  });
});

describe('rules for HTTP requests', () => {
  it('replace a number of responses, and then let requests pass', async () => {
    const cloud = await cloudUnderTest();
    const request = clientOf(cloud);
    const rule = cloud.rules.http({ match: { method: 'GET', path: '/compute/v2.1/servers' }, status: 503, times: 2 });
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await request('GET', '/compute/v2.1/servers')).status);
    expect(statuses).toEqual([503, 503, 200]);
    expect(rule.calls).toBe(3);
  });

  it('return a sequence of responses, with bodies and headers', async () => {
    const cloud = await cloudUnderTest();
    const request = clientOf(cloud);
    cloud.rules.http({
      match: { path: /flavors$/ },
      sequence: [{ status: 429, body: { slow: 'down' }, headers: { 'Retry-After': '1' } }, {}, { status: 500 }],
    });
    const responses = [];
    for (let i = 0; i < 4; i++) responses.push(await request('GET', '/compute/v2.1/flavors'));
    expect(responses.map(({ status }) => status)).toEqual([429, 200, 500, 200]);
    expect(responses[0]!.body).toEqual({ slow: 'down' });
    expect(responses[0]!.headers.get('retry-after')).toBe('1');
  });

  it('match by version, header and part of the body', async () => {
    const cloud = await cloudUnderTest();
    const request = clientOf(cloud);
    cloud.rules.http({ match: { method: 'POST', body: { server: { name: /^x/ } } }, status: 418 });
    cloud.rules.http({ match: { version: '2.42', headers: { 'X-Who': 'me' } }, status: 421 });
    const create = (name: string) => request('POST', '/compute/v2.1/servers', serverBody({ name }));
    expect((await create('web')).status).toBe(202);
    expect((await create('xen')).status).toBe(418);
    const old = clientOf(cloud, cloud.token(), '2.42');
    expect((await old('GET', '/compute/v2.1/servers')).status).toBe(200);
    expect((await old('GET', '/compute/v2.1/servers', undefined, { 'X-Who': 'me' })).status).toBe(421);
  });

  it('execute a request and return an error', async () => {
    const cloud = await cloudUnderTest();
    const request = clientOf(cloud);
    cloud.rules.http({ match: { method: 'POST', path: '/compute/v2.1/servers' }, status: 504, apply: true, times: 1 });
    const responded = await request('POST', '/compute/v2.1/servers', serverBody());
    expect(responded.status).toBe(504);
    expect(responded.body.computeFault.code).toBe(504);
    expect((await request('GET', '/compute/v2.1/servers')).body.servers).toHaveLength(1);
  });

  it('drop the response after a request is executed', async () => {
    const cloud = await cloudUnderTest();
    const request = clientOf(cloud);
    cloud.rules.http({ match: { path: '/compute/v2.1/servers' }, apply: true, drop: true, times: 1 });
    await expect(request('POST', '/compute/v2.1/servers', serverBody())).rejects.toThrow();
    expect((await request('GET', '/compute/v2.1/servers')).body.servers).toHaveLength(1);
  });

  it('break the connection', async () => {
    const cloud = await cloudUnderTest();
    cloud.rules.http({ match: { path: '/image/v2/images' }, drop: true });
    await expect(clientOf(cloud)('GET', '/image/v2/images')).rejects.toThrow();
    expect(cloud.requests({ service: 'image' })).toMatchObject([{ status: 0 }]);
  });

  it('delay by the clock of the cloud', async () => {
    const cloud = await cloudUnderTest({ clock: 'frozen' });
    cloud.rules.http({ match: { path: '/network/v2.0/networks' }, delayMs: 60_000 });
    let hasResponse = false;
    const response = clientOf(cloud)('GET', '/network/v2.0/networks').then((a) => {
      hasResponse = true;
      return a;
    });
    // In the meantime, the request of another client completes.
    await clientOf(cloud)('GET', '/network/v2.0/subnets');
    expect(hasResponse).toBe(false);
    await cloud.clock.advance('1m');
    expect((await response).status).toBe(200);
  });
});

describe('the journal', () => {
  it('contains requests and responses without secrets', async () => {
    const cloud = await cloudUnderTest();
    const request = clientOf(cloud, cloud.token(), '2.30');
    await request('POST', '/compute/v2.1/servers', serverBody({ adminPass: 'hunter2', networks: undefined }));
    const password = { user: { name: 'admin', domain: { id: 'default' }, password: 'secret' } };
    await request('POST', '/identity/v3/auth/tokens', { auth: { identity: { methods: ['password'], password } } });
    const [created] = cloud.requests({ service: 'compute', method: 'post' });
    expect(created).toMatchObject({
      number: 1,
      url: '/compute/v2.1/servers',
      version: '2.30',
      requestId: expect.stringMatching(/^req-/),
      requestBody: { server: { name: 'web', adminPass: '***' } },
    });
    expect(created?.requestHeaders).toMatchObject({ 'content-type': 'application/json', 'x-auth-token': '***' });
    expect(created?.responseHeaders['openstack-api-version']).toBe('compute 2.30');
    const blob = JSON.stringify({ access: 'a', secret: 'hunter2' });
    await request('POST', '/identity/v3/credentials', { credential: { type: 'ec2', blob } });
    await request('GET', '/compute/v2.1/os-console-auth-tokens/hunter2');
    const all = JSON.stringify(cloud.requests());
    expect(all).toContain('x-subject-token');
    expect(all).not.toMatch(/hunter2|"secret"/);
  });

  it('finds requests by status, by number and by text of either message', async () => {
    const cloud = await cloudUnderTest();
    const request = clientOf(cloud);
    await request('POST', '/compute/v2.1/servers', serverBody({ name: 'Needle' }));
    await request('GET', '/compute/v2.1/servers/nothing');
    await request('GET', '/compute/v2.1/servers/detail');
    const urls = (query: Parameters<typeof cloud.requests>[0]) => cloud.requests(query).map(({ number }) => number);
    expect(urls({ text: 'needle' })).toEqual([1, 3]);
    expect(urls({ status: '4xx' })).toEqual([2]);
    expect(urls({ after: 2 })).toEqual([3]);
    expect(urls({ text: 'servers/nothing', status: 404 })).toEqual([2]);
  });

  it('can be followed while it grows', async () => {
    const cloud = await cloudUnderTest();
    const seen: string[] = [];
    const end = cloud.onRequest(({ method, url }) => seen.push(`${method} ${url}`));
    await clientOf(cloud)('GET', '/image/v2/images');
    await expect.poll(() => seen).toEqual(['GET /image/v2/images']);
    end();
  });
});
