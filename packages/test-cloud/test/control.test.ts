import { describe, expect, it } from 'vitest';
import { clientOf, cloudUnderTest, serverBody } from './clouds.js';

describe('/_control', () => {
  it('does not exist unless it is enabled', async () => {
    const cloud = await cloudUnderTest();
    expect((await clientOf(cloud)('POST', '/_control/reset')).status).toBe(404);
  });

  it('creates, shows, releases and deletes rules of both kinds', async () => {
    const cloud = await cloudUnderTest({ control: true });
    const request = clientOf(cloud);
    const machine = await request('POST', '/_control/rules', { machine: { match: { name: '/^slow/' }, hang: true } });
    expect(machine).toMatchObject({ status: 201, body: { id: '1', calls: 0 } });
    await request('POST', '/_control/rules', { http: { match: { path: '/image/v2/images' }, status: 503, times: 1 } });
    expect((await request('GET', '/image/v2/images')).status).toBe(503);
    expect((await request('GET', '/image/v2/images')).status).toBe(200);
    expect((await request('GET', '/_control/rules')).body.rules).toMatchObject([{ calls: 0 }, { calls: 2 }]);

    const { body } = await request('POST', '/compute/v2.1/servers', serverBody({ name: 'slow-1' }));
    const status = async () => (await request('GET', `/compute/v2.1/servers/${body.server.id}`)).body.server.status;
    expect(await status()).toBe('BUILD');
    await request('POST', '/_control/rules/1/release');
    await request('POST', '/_control/idle');
    expect(await status()).toBe('ACTIVE');
    expect((await request('DELETE', '/_control/rules/1')).status).toBe(204);
    expect((await request('DELETE', '/_control/rules')).status).toBe(204);
    expect((await request('GET', '/_control/rules')).body.rules).toEqual([]);
  });

  it('lists the rules of programs and presets too, as the JSON that creates them', async () => {
    const preset = { rules: [{ match: { verb: 'spawn' as const, name: /^slow-/i }, delayMs: 5 }] };
    const cloud = await cloudUnderTest({ control: true, preset });
    const rule = cloud.rules.http({ match: { path: /nothing$/ }, status: 418 });
    const request = clientOf(cloud);
    expect((await request('GET', '/_control/rules')).body.rules).toEqual([
      { id: expect.any(String), calls: 0, machine: { match: { verb: 'spawn', name: '/^slow-/i' }, delayMs: 5 } },
      { id: expect.any(String), calls: 0, http: { match: { path: '/nothing$/' }, status: 418 } },
    ]);
    const [, { id, http }] = (await request('GET', '/_control/rules')).body.rules;
    expect((await request('DELETE', `/_control/rules/${id}`)).status).toBe(204);
    expect((await request('GET', '/image/v2/nothing')).status).not.toBe(418);
    await request('POST', '/_control/rules', { http });
    expect((await request('GET', '/image/v2/nothing')).status).toBe(418);
    expect(rule.calls).toBe(0);
    await request('POST', '/_control/reset');
    expect((await request('GET', '/_control/rules')).body.rules).toMatchObject([{ machine: { delayMs: 5 } }]);
  });

  it('rejects pages of other sites', async () => {
    const cloud = await cloudUnderTest({ control: true });
    const reset = async (origin: string) =>
      (await fetch(`${cloud.url}/_control/reset`, { method: 'POST', headers: { Origin: origin } })).status;
    expect(await reset('https://elsewhere.test')).toBe(403);
    expect(await reset('null')).toBe(403);
    expect(await reset(cloud.url)).toBe(204);
  });

  it('reports the location of an error in a rule', async () => {
    const cloud = await cloudUnderTest({ control: true });
    const { body } = await clientOf(cloud)('POST', '/_control/rules', {
      http: { match: { path: '/(/' }, status: 503 },
    });
    expect(body.error.message).toMatch(/regular expression.*http\.match\.path/is);
  });

  // A backtracking engine needs 2 ** 40 steps for this path.
  it('matches patterns of HTTP clients in linear time', async () => {
    const cloud = await cloudUnderTest({ control: true });
    const request = clientOf(cloud);
    const http = { match: { path: '/^\\/compute\\/(a+)+$/i' }, status: 418 };
    const { status, body } = await request('POST', '/_control/rules', { http });
    expect(status).toBe(201);
    expect((await request('GET', `/compute/${'A'.repeat(40)}!`)).status).not.toBe(418);
    expect((await request('GET', `/compute/${'A'.repeat(40)}`)).status).toBe(418);
    const { rules } = (await request('GET', '/_control/rules')).body;
    expect(rules).toEqual([{ id: body.id, calls: 1, http }]);
    for (const path of ['/(?=a)/', '/(a)\\1/'])
      expect((await request('POST', '/_control/rules', { http: { match: { path }, status: 503 } })).status).toBe(400);
  });

  it('returns tokens, the journal, the clock and unhandled requests', async () => {
    const cloud = await cloudUnderTest({ control: true });
    const request = clientOf(cloud, '');
    const { token } = (await request('POST', '/_control/tokens', { user: 'ada', project: 'lab' })).body;
    const ada = clientOf(cloud, token);
    await ada('GET', '/compute/v2.1/servers');
    const { environment } = (await request('POST', '/_control/logins', { user: 'bob', project: 'lab' })).body;
    expect(environment).toEqual(cloud.envFor({ user: 'bob', project: 'lab' }));
    expect((await request('POST', '/_control/logins', { name: 'bob' })).status).toBe(400);
    await ada('GET', '/network/v2.0/nothing');
    expect((await request('GET', '/_control/requests?service=compute&status=200')).body.requests).toHaveLength(1);
    for (const [path, message] of [
      ['/_control/requests?status=abc', "`status` must be an HTTP status code or a class such as 4xx, not 'abc'"],
      ['/_control/requests?after=-1', "`after` must be a non-negative integer, not '-1'"],
      ['/_page/requests?status=6xx', "`status` must be an HTTP status code or a class such as 4xx, not '6xx'"],
    ] as const)
      expect(await request('GET', path)).toMatchObject({
        status: 400,
        body: { error: { message: expect.stringContaining(message) } },
      });
    expect((await request('GET', '/_control/unhandled')).body.unhandled).toHaveLength(1);
    const before = (await request('POST', '/_control/clock', { freeze: true })).body.now;
    const after = (await request('POST', '/_control/clock', { advance: '1h' })).body.now;
    expect(Date.parse(after) - Date.parse(before)).toBe(3_600_000);
    expect((await request('GET', '/_control/clock')).body).toEqual({ now: after, frozen: true });
  });

  it('saves, restores and resets the state of the cloud', async () => {
    const cloud = await cloudUnderTest({ control: true });
    const count = async () => (await clientOf(cloud)('GET', '/compute/v2.1/servers')).body.servers.length;
    const request = clientOf(cloud);
    await request('POST', '/compute/v2.1/servers', serverBody());
    await cloud.idle();
    await request('PUT', '/_control/states/one');
    await request('POST', '/compute/v2.1/servers', serverBody());
    expect(await count()).toBe(2);
    expect((await request('POST', '/_control/states/one/restore')).status).toBe(204);
    expect(await count()).toBe(1);
    expect((await request('POST', '/_control/states/two/restore')).status).toBe(404);
    await request('POST', '/_control/reset');
    expect(await count()).toBe(0);
  });

  it.each([
    ['/rules', { http: { match: { pth: '/' } } }],
    ['/rules', { machine: { match: { name: '/(/' } } }],
    ['/rules', {}],
    ['/clock', { advance: 'soon' }],
    ['/tokens', { roles: 'admin' }],
  ])('rejects %s %j with 400', async (path, body) => {
    const cloud = await cloudUnderTest({ control: true });
    const responded = await clientOf(cloud)('POST', `/_control${path}`, body);
    expect(responded.status).toBe(400);
    expect(responded.body.error.message).toMatch(/\S/);
  });
});
