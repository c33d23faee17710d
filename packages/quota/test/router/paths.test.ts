import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { headerIdentity, projectQuotaRouter } from '@apistrata/quota/router';
import express from 'express';
import express4 from 'express4';
import supertest from 'supertest';
import { describe, expect, it } from 'vitest';
import { ADMIN, agent, get, handler, MEMBER, type Options, onFreshQuota, problem, quota } from './requests.js';

onFreshQuota();

describe('GET /v1/project-quotas', () => {
  async function fill(count: number) {
    for (let index = 0; index < count; index++) await quota.set(`p${index}`, { secrets: index });
  }
  const page = async (query: string, options: Options = {}) => {
    const { body } = await get(`/v1/project-quotas${query}`, options).set('Host', 'q.example').expect(200);
    const ids = body.project_quotas.map((entry: { project_id: string }) => entry.project_id.slice(1)).join(' ');
    return { ids, previous: body.previous, next: body.next, total: body.total };
  };

  it('is empty at first', async () => {
    expect((await get('/v1/project-quotas').expect(200)).text).toBe('{"project_quotas": [], "total": 0}');
  });

  it('lists entries by creation time, with links to the actual path', async () => {
    await fill(3);
    await quota.set('p0', { cas: 1 });
    const response = await get('/v1/project-quotas?limit=1&offset=1&marker=x').set('Host', 'q.example');
    expect(response.text).toBe(
      '{"project_quotas": [{"project_id": "p1", "project_quotas": {"secrets": 1, "orders": null, "containers": null, ' +
        '"consumers": null, "cas": null}}], "previous": "http://q.example/v1/project-quotas?limit=1&offset=0", ' +
        '"next": "http://q.example/v1/project-quotas?limit=1&offset=2", "total": 3}',
    );
  });

  it('prints non-ASCII characters as escapes', async () => {
    await quota.set('ü\u{1f600}', {});
    expect((await get('/v1/project-quotas')).text).toContain('"project_id": "\\u00fc\\ud83d\\ude00"');
  });

  const base = 'http://q.example/v1/project-quotas';
  const pages: [string, object][] = [
    ['', { ids: '0 1 2 3 4 5 6 7 8 9', next: `${base}?limit=10&offset=10` }],
    ['?limit=2', { ids: '0 1', next: `${base}?limit=2&offset=2` }],
    ['?offset=10', { ids: '10 11', previous: `${base}?limit=10&offset=0` }],
    ['?limit=4&offset=6', { ids: '6 7 8 9', previous: `${base}?limit=4&offset=2`, next: `${base}?limit=4&offset=10` }],
    ['?limit=4&offset=3', { ids: '3 4 5 6', previous: `${base}?limit=4&offset=0`, next: `${base}?limit=4&offset=7` }],
    ['?limit=4&offset=8', { ids: '8 9 10 11', previous: `${base}?limit=4&offset=4` }],
    ['?limit=4&offset=50', { ids: '', previous: `${base}?limit=4&offset=46` }],
    ['?limit=0', { ids: '0', next: `${base}?limit=1&offset=1` }],
    ['?limit=-5', { ids: '0', next: `${base}?limit=1&offset=1` }],
    ['?limit=9999999999999999999999', { ids: '0 1 2 3 4 5 6 7 8 9 10 11' }],
    ['?limit=101', { ids: '0 1 2 3 4 5 6 7 8 9 10 11' }],
    ['?limit=x&offset=y', { ids: '0 1 2 3 4 5 6 7 8 9', next: `${base}?limit=10&offset=10` }],
    ['?limit=&offset=', { ids: '0 1 2 3 4 5 6 7 8 9', next: `${base}?limit=10&offset=10` }],
    ['?limit=2.0', { ids: '0 1 2 3 4 5 6 7 8 9', next: `${base}?limit=10&offset=10` }],
    [
      '?limit=%202%20&offset=%2B1',
      { ids: '1 2', previous: `${base}?limit=2&offset=0`, next: `${base}?limit=2&offset=3` },
    ],
    ['?limit=2&limit=3', { ids: '0 1 2 3 4 5 6 7 8 9', next: `${base}?limit=10&offset=10` }],
    ['?LIMIT=2&Offset=3', { ids: '0 1 2 3 4 5 6 7 8 9', next: `${base}?limit=10&offset=10` }],
    ['?offset=-1&limit=2', { ids: '0 1', next: `${base}?limit=2&offset=2` }],
    ['?offset=9223372036854775808&limit=2', { ids: '0 1', next: `${base}?limit=2&offset=2` }],
    ['?offset=9223372036854775807&limit=2', { ids: '', previous: `${base}?limit=2&offset=9223372036854775805` }],
    ['?limit=%zz&offset=%00', { ids: '0 1 2 3 4 5 6 7 8 9', next: `${base}?limit=10&offset=10` }],
  ];
  it.each(pages)('accepts the invalid page %s', async (query, expected) => {
    await fill(12);
    expect(await page(query)).toEqual({ previous: undefined, next: undefined, total: 12, ...expected });
  });

  it('reads default and maximum page size from its options', async () => {
    await fill(5);
    expect((await page('', { defaultLimit: 2 })).ids).toBe('0 1');
    expect((await page('?limit=50', { maxLimit: 3 })).ids).toBe('0 1 2');
  });

  it('starts links with the public URL, the values of a trusted proxy, or the mount path of Express', async () => {
    await fill(2);
    const { next } = await page('?limit=1', { publicUrl: 'https://public.example/keys/' });
    expect(next).toBe('https://public.example/keys/v1/project-quotas?limit=1&offset=1');
    const forwarded = (options: Options) =>
      get('/v1/project-quotas?limit=1', options).set({
        Host: 'h',
        'X-Forwarded-Proto': 'https',
        'X-Forwarded-Host': 'front.example',
        'X-Forwarded-Prefix': '/keys',
      });
    expect((await forwarded({})).body.next).toBe('http://h/v1/project-quotas?limit=1&offset=1');
    expect((await forwarded({ trustProxy: true })).body.next).toBe(
      'https://front.example/keys/v1/project-quotas?limit=1&offset=1',
    );
    const behind = express().set('trust proxy', 'loopback');
    behind.use(projectQuotaRouter({ quota, identity: headerIdentity({ confirmed: false }) }));
    const trusting = await supertest(behind)
      .get('/v1/project-quotas?limit=1')
      .set(ADMIN)
      .set('X-Forwarded-Proto', 'https');
    expect(trusting.body.next).toMatch(/^https:/);
    const app = express().use('/keys', projectQuotaRouter({ quota, identity: headerIdentity({ confirmed: false }) }));
    const mounted = await supertest(app).get('/keys/v1/project-quotas?limit=1').set(ADMIN).set('Host', 'h');
    expect(mounted.body.next).toBe('http://h/keys/v1/project-quotas?limit=1&offset=1');
  });

  it('does not include an invalid host in links', async () => {
    await fill(2);
    const result = await get('/v1/project-quotas?limit=1', { trustProxy: true }).set({
      Host: 'h"/><x',
      'X-Forwarded-Proto': 'javascript',
      'X-Forwarded-Host': 'a b',
    });
    expect(result.body.next).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1\/project-quotas\?limit=1&offset=1$/);
  });
});

describe('paths', () => {
  it.each(['/v1/quotas/', '/v1//quotas', '//v1/quotas', '/v1/quotas?x=/v2/y'])('%s is /v1/quotas', async (path) => {
    expect((await get(path).expect(200)).body.quotas.secrets).toBe(100);
  });

  it.each(['http://a.example/v1/quotas', 'HTTPS://a.example:8080//v1/quotas/?x=1'])(
    'the absolute target %s is /v1/quotas',
    async (target) => {
      const server = createServer(handler()).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const socket = connect(port, '127.0.0.1');
      socket.write(`GET ${target} HTTP/1.1\r\nHost: a.example\r\nX-Project-Id: p1\r\nConnection: close\r\n\r\n`);
      const chunks: Buffer[] = [];
      for await (const chunk of socket) chunks.push(chunk);
      server.close();
      expect(Buffer.concat(chunks).toString()).toMatch(/^HTTP\/1\.1 200 [\s\S]*"secrets": 100/);
    },
  );

  it.each(['/v1/project-quotas/', '/v1//project-quotas//'])('%s is the list', async (path) => {
    expect((await get(path).expect(200)).body.total).toBe(0);
  });

  it.each(['/v1/project-quotas/p1/', '/v1/project-quotas//p1'])('%s is the project', async (path) => {
    await quota.set('p1', {});
    await get(path).expect(200);
  });

  it.each(['/', '/v1', '/v1/project_quotas', '/v1/Quotas', '/v2/quotas', '/v1/quotas/p1', '/v1/project-quotas/a/b'])(
    '%s is unknown',
    async (path) => {
      const response = await get(path).expect(404);
      expect(response.text).toBe(problem(404, 'Not Found', ''));
      expect(response.headers['service-api-version']).toBe('key-manager 1.0');
    },
  );

  it.each([
    ['Express 5', express],
    ['Express 4', express4 as unknown as typeof express],
  ])('in %s, only other paths are passed to the app', async (_name, make) => {
    const app = make()
      .use(projectQuotaRouter({ quota, identity: headerIdentity({ confirmed: false }) }))
      .use((_req, res) => void res.status(200).send('the app'));
    await supertest(app).get('/v1/secrets').expect(200, 'the app');
    await supertest(app).options('/v1/secrets').expect(200, 'the app');
    await supertest(app).get('/v1/quotas/x').set(ADMIN).expect(404);
    await supertest(app).get('/v1/quotas').set(MEMBER).expect(200);
  });

  it('handles other paths if configured', async () => {
    const router = projectQuotaRouter({
      quota,
      identity: headerIdentity({ confirmed: false }),
      otherPaths: 'respond',
    });
    await supertest(express().use(router))
      .get('/v1/secrets')
      .set(MEMBER)
      .expect(404, problem(404, 'Not Found', ''));
  });

  it.each([
    ['Express 5', express],
    ['Express 4', express4 as unknown as typeof express],
  ])('in %s it accepts a body that a parser has already read', async (_name, make) => {
    const app = make()
      .use(make.json())
      .use(projectQuotaRouter({ quota, identity: headerIdentity({ confirmed: false }) }));
    const call = supertest(app).put('/v1/project-quotas/p1').set(ADMIN);
    await call.send({ project_quotas: { secrets: 4 } }).expect(204);
    expect((await quota.get('p1'))!.secrets).toBe(4);
  });

  it('rejects numbers that an earlier parser may have rounded, and values nested too deeply', async () => {
    const app = express()
      .use(express.json())
      .use(projectQuotaRouter({ quota, identity: headerIdentity({ confirmed: false }) }));
    const send = (body: string) =>
      supertest(app).put('/v1/project-quotas/p1').set(ADMIN).type('application/json').send(body);
    for (const number of ['9007199254740993', '9007199254740992', '9223372036854775807', '-9007199254740993']) {
      const response = await send(`{"project_quotas": {"secrets": ${number}}}`).expect(400);
      expect(response.body.description).toMatch(/^Project Quotas issue seen - The number -?\d+ is too large/);
    }
    expect(await quota.get('p1')).toBeUndefined();
    await send('{"project_quotas": {"secrets": 9007199254740991}}').expect(204);
    expect((await quota.get('p1'))!.secrets).toBe(Number.MAX_SAFE_INTEGER);
    const deep = `{"project_quotas": ${'['.repeat(40_000)}${']'.repeat(40_000)}}`;
    expect((await send(deep).expect(400)).body.description).toMatch(/nested too deeply/);
    const wide = `{"project_quotas": [${'0,'.repeat(20_000)}0]}`;
    expect((await send(wide).expect(400)).body.description).toMatch(/too many values: the limit is 20000/);
    const rejected = await send('{"project_quotas": {"secrets": "x"}}').expect(400);
    expect(rejected.body.description).toContain("'x' is not of type 'integer'");
  });

  it('accepts a body that an earlier parser read as text, as bytes, or with bigints', async () => {
    const parsers: [unknown, string][] = [
      ['{"project_quotas": {"secrets": 9007199254740993}}', '9007199254740993'],
      [Buffer.from('{"project_quotas": {"secrets": 9007199254740993}}'), '9007199254740993'],
      [{ project_quotas: { secrets: 9007199254740993n, orders: undefined } }, '9007199254740993'],
    ];
    for (const [body, retained] of parsers) {
      const app = express()
        .use((req, _res, next) => {
          req.resume().on('end', () => {
            req.body = body;
            next();
          });
        })
        .use(projectQuotaRouter({ quota, identity: headerIdentity({ confirmed: false }) }));
      await supertest(app).put('/v1/project-quotas/p1').set(ADMIN).type('application/json').send('{}').expect(204);
      expect(String((await quota.get('p1'))!.secrets)).toBe(retained);
    }
  });
});

describe('methods', () => {
  it.each(['post', 'patch', 'put', 'delete'] as const)('%s is not allowed on lists', async (method) => {
    for (const path of ['/v1/quotas', '/v1/project-quotas']) {
      const response = await agent()[method](path).set(ADMIN).expect(405);
      expect(response.headers.allow).toBe('GET');
      expect(response.text).toBe(problem(405, 'Method Not Allowed', ''));
    }
  });

  it('of one project are DELETE, GET and PUT', async () => {
    const response = await agent().post('/v1/project-quotas/p1').set(ADMIN).expect(405);
    expect(response.headers.allow).toBe('DELETE, GET, PUT');
  });

  it('HEAD returns 405 everywhere, without a body', async () => {
    for (const path of ['/v1/quotas', '/v1/project-quotas', '/v1/project-quotas/p1'])
      expect((await agent().head(path).set(ADMIN).expect(405)).text).toBeFalsy();
  });

  it('OPTIONS returns 200 with an empty body for every caller', async () => {
    for (const path of ['/v1/quotas', '/v1/project-quotas', '/v1/project-quotas/p1'])
      await agent().options(path).expect(200, '');
  });
});
