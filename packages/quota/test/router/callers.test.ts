import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { headerIdentity, IdentityError } from '@apistrata/quota/router';
import { describe, expect, it } from 'vitest';
import { ADMIN, agent, get, handler, MEMBER, onFreshQuota, problem, quota } from './requests.js';

onFreshQuota();

describe('order of checks', () => {
  const xml = { Accept: 'application/xml' };

  it('checks identity before the method', async () => {
    await agent().post('/v1/quotas').expect(400);
  });
  it('checks the method before the format', async () => {
    await agent().post('/v1/project-quotas').set(MEMBER).set(xml).expect(405);
  });
  it('checks the format before the path', async () => {
    const response = await agent().get('/v1/nothing').set(MEMBER).set(xml).expect(406);
    expect(response.text).toBe(problem(406, 'Not Acceptable', null));
  });
  it('checks the format before the role', async () => {
    await agent().get('/v1/project-quotas').set(MEMBER).set(xml).expect(406);
  });
  it('checks the role before it looks up the project', async () => {
    const result = await agent().get('/v1/project-quotas/unknown').set(MEMBER).expect(403);
    const description = 'Project Quotas attempt not allowed - please review your user/project privileges';
    expect(result.text).toBe(problem(403, 'Forbidden', description));
  });
  it('checks the role before the body', async () => {
    await agent().put('/v1/project-quotas/p1').set(MEMBER).type('text/plain').send('x').expect(403);
  });
  it('checks the media type before it looks for a body', async () => {
    await agent().put('/v1/project-quotas/p1').set(ADMIN).expect(415);
  });
});

describe('media type of errors', () => {
  it('has no charset in a 406 for the format or the version', async () => {
    const format = await agent().get('/v1/quotas').set(MEMBER).set('Accept', 'text/html').expect(406);
    expect(format.headers['content-type']).toBe('application/json');
    const requested = { 'Service-API-Version': 'key-manager 9.9' };
    const version = await agent().get('/v1/quotas').set(MEMBER).set(requested).expect(406);
    expect(version.headers['content-type']).toBe('application/json');
  });
});

describe('Accept', () => {
  const results = [
    '',
    'application/json',
    '*/*',
    'application/*',
    'text/html, */*;q=0.1',
    'Application/JSON',
    'nonsense',
  ];
  it.each([...results, 'application/json;charset=utf-8', 'application/json;q=2', 'application/json;q=0.1, */*;q=0'])(
    '%j accepts JSON',
    async (accept) => {
      await agent().get('/v1/quotas').set(MEMBER).set('Accept', accept).expect(200);
    },
  );

  it('does not matter for DELETE, which returns no body', async () => {
    await quota.set('p1', {});
    const remove = () => agent().delete('/v1/project-quotas/p1').set(ADMIN).set('Accept', 'text/html');
    await remove().expect(204);
    expect((await remove().expect(404)).body.title).toBe('Not Found');
  });

  it.each(['text/html', 'application/xml', 'application/json;q=0', '*/*, application/json;q=0', 'text/*'])(
    '%j does not',
    async (accept) => {
      await agent().get('/v1/quotas').set(MEMBER).set('Accept', accept).expect(406);
    },
  );
});

describe('roles', () => {
  it.each(['key-manager:service-admin', 'KEY-MANAGER:Service-Admin', 'member, key-manager:service-admin'])(
    '%s may manage the quotas of projects',
    async (roles) => {
      await agent()
        .get('/v1/project-quotas')
        .set({ ...MEMBER, 'X-Roles': roles })
        .expect(200);
    },
  );

  it.each(['admin', 'member', '', 'service-admin', 'key-manager:service-admin2'])('%j is rejected', async (roles) => {
    for (const path of ['/v1/project-quotas', '/v1/project-quotas/p1'])
      await agent()
        .get(path)
        .set({ ...MEMBER, 'X-Roles': roles })
        .expect(403);
  });

  it('are configurable', async () => {
    await agent({ adminRole: 'boss' })
      .get('/v1/project-quotas')
      .set({ ...MEMBER, 'X-Roles': 'Boss' })
      .expect(200);
    await get('/v1/project-quotas', { adminRole: 'boss' }).expect(403);
  });
});

describe('identity', () => {
  const strict = { identity: headerIdentity() };

  it.each([undefined, '', ' , '])('that is confirmed with the roles %j has no role, not even admin', async (roles) => {
    const headers = { 'x-identity-status': 'Confirmed', 'x-project-id': 'p1', 'x-roles': roles };
    expect((await headerIdentity()({ headers } as never))!.roles).toEqual([]);
    expect((await headerIdentity({ confirmed: false })({ headers } as never))!.roles).toEqual(['admin']);
    const call = agent({ ...strict, adminRole: 'admin', readerRoles: ['admin'] });
    for (const path of ['/v1/quotas', '/v1/project-quotas']) {
      await call.get(path).set({ 'X-Identity-Status': 'Confirmed', 'X-Project-Id': 'p1' }).expect(403);
    }
  });

  it.each([{}, { 'X-Project-Id': '' }, { 'X-Project-Id': '  ' }])(
    'without a project causes 400: %j',
    async (headers) => {
      const missing = await agent().get('/v1/quotas').set(headers).set('Accept', 'application/json').expect(400);
      expect(missing.body).toEqual({ message: 'Missing X-Project-Id', code: '400 Bad Request', title: 'Bad Request' });
      expect(missing.headers['content-type']).toBe('application/json');
      expect(missing.headers['service-api-version']).toBeUndefined();
      expect(missing.headers['x-service-request-id']).toBeUndefined();
    },
  );

  it('without a project is plain text without Accept, and HTML for html or */*', async () => {
    const plain = await agent().get('/v1/quotas').unset('Accept').expect(400);
    expect(plain.headers['content-type']).toMatch(/^text\/plain/);
    expect(plain.text).toContain('Missing X-Project-Id');
    for (const accept of ['*/*', 'text/html']) {
      const html = await agent().get('/v1/quotas').set('Accept', accept).expect(400);
      expect(html.headers['content-type']).toMatch(/^text\/html/);
    }
  });

  it.each([undefined, 'Invalid', 'confirmed', ''])(
    'with the status %s of an authenticating proxy causes 401',
    async (status) => {
      const call = agent(strict).get('/v1/quotas').set(ADMIN);
      if (status !== undefined) call.set('X-Identity-Status', status);
      const response = await call.expect(401);
      expect(response.headers['content-type']).toMatch(/^text\/plain/);
      expect(response.headers['service-api-version']).toBeUndefined();
    },
  );

  it('is accepted if an authenticating proxy has confirmed it', async () => {
    await agent(strict).get('/v1/project-quotas').set(ADMIN).set('X-Identity-Status', 'Confirmed').expect(200);
  });

  it('without roles is admin, which may not manage the quotas of projects', async () => {
    await agent({ readerRoles: ['admin'] })
      .get('/v1/quotas')
      .set('X-Project-Id', 'p1')
      .expect(200);
    await agent().get('/v1/project-quotas').set('X-Project-Id', 'p1').expect(403);
  });

  it('is an opaque project id: case-sensitive, and non-ASCII text is the same as in a path', async () => {
    await quota.set('pü', { secrets: 1 });
    const utf8 = Buffer.from('pü').toString('latin1');
    const server = createServer(handler()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const socket = connect(port, '127.0.0.1');
    socket.write(
      Buffer.from(`GET /v1/quotas HTTP/1.1\r\nHost: h\r\nConnection: close\r\nX-Project-Id: ${utf8}\r\n\r\n`, 'latin1'),
    );
    let text = '';
    for await (const chunk of socket) text += chunk;
    server.close();
    expect(text).toContain('{"quotas": {"secrets": 1, ');
    expect((await agent().get('/v1/quotas').set('X-Project-Id', 'PÜ'.normalize())).body.quotas.secrets).toBe(100);
  });

  it('may come from any function, which may reject the request', async () => {
    const knownCaller = async () => ({ projectId: 'p1', roles: [] });
    await agent({ identity: knownCaller }).get('/v1/quotas').expect(200);
    await agent({ identity: () => undefined })
      .get('/v1/quotas')
      .expect(401);
    const reject = () => {
      throw new IdentityError(503, 'no <identity> service');
    };
    const rejected = await agent({ identity: reject }).get('/v1/quotas').set('Accept', 'text/html').expect(503);
    expect(rejected.text).toContain('no &lt;identity&gt; service');
  });

  it('that is too long for a project id is rejected without a server error', async () => {
    await agent().get('/v1/quotas').set('X-Project-Id', 'x'.repeat(600)).expect(400);
  });
});
