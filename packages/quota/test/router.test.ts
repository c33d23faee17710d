import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { memoryStore, type ProjectQuotas, projectQuotas, type QuotaStore } from '@apistrata/quota';
import {
  headerIdentity,
  IdentityError,
  type ProjectQuotaRouterOptions,
  projectQuotaRouter,
} from '@apistrata/quota/router';
import express from 'express';
import express4 from 'express4';
import supertest from 'supertest';
import { beforeEach, describe, expect, it, vi } from 'vitest';

const ADMIN = { 'X-Project-Id': 'admins', 'X-Roles': 'key-manager:service-admin' };
const MEMBER = { 'X-Project-Id': 'p1', 'X-Roles': 'member' };
const UNSET = { secrets: null, orders: null, containers: null, consumers: null, cas: null };

let quota: ProjectQuotas;
beforeEach(() => {
  quota = projectQuotas({ store: memoryStore(), defaults: { secrets: 100 } });
});

type Options = Partial<ProjectQuotaRouterOptions>;
const handler = (options: Options = {}): RequestListener =>
  projectQuotaRouter({ quota, identity: headerIdentity({ confirmed: false }), ...options }) as RequestListener;
const agent = (options: Options = {}) => supertest(createServer(handler(options)));
const put = (path: string, body: unknown, options: Options = {}) =>
  agent(options)
    .put(path)
    .set(ADMIN)
    .type('application/json')
    .send(typeof body === 'string' ? body : JSON.stringify(body));
const get = (path: string, options: Options = {}) => agent(options).get(path).set(ADMIN);
const problem = (code: number, title: string, description: string | null) =>
  JSON.stringify({ code, title, description }).replaceAll('":', '": ').replaceAll(',"', ', "');

describe('GET /v1/quotas', () => {
  it('shows what applies to the caller, defaults filled in, in one line with blanks', async () => {
    await quota.set('p1', { orders: 5 });
    const answer = await agent().get('/v1/quotas').set(MEMBER).expect(200);
    expect(answer.text).toBe('{"quotas": {"secrets": 100, "orders": 5, "containers": -1, "consumers": -1, "cas": -1}}');
    expect(answer.headers['content-type']).toBe('application/json');
  });

  it('is never a 404, and a query cannot select another project', async () => {
    await quota.set('p2', { secrets: 1 });
    const answer = await agent().get('/v1/quotas?project_id=p2').set(MEMBER).expect(200);
    expect(answer.body.quotas.secrets).toBe(100);
  });

  it('is for every authenticated caller unless roles are named', async () => {
    await agent()
      .get('/v1/quotas')
      .set({ ...MEMBER, 'X-Roles': 'anything' })
      .expect(200);
    const readerRoles = ['observer', 'Creator'];
    const refused = await agent({ readerRoles }).get('/v1/quotas').set(MEMBER).expect(403);
    expect(refused.text).toBe(
      problem(403, 'Forbidden', 'Quotas attempt not allowed - please review your user/project privileges'),
    );
    await agent({ readerRoles })
      .get('/v1/quotas')
      .set({ ...MEMBER, 'X-Roles': 'creator' })
      .expect(200);
  });
});

describe('/v1/project-quotas/{id}', () => {
  it('shows what is set, null where nothing is, in the order of the kinds', async () => {
    await put('/v1/project-quotas/p1', { project_quotas: { cas: 0, secrets: 10, orders: null } }).expect(204);
    const answer = await get('/v1/project-quotas/p1').expect(200);
    expect(answer.text).toBe(
      '{"project_quotas": {"secrets": 10, "orders": null, "containers": null, "consumers": null, "cas": 0}}',
    );
  });

  it('sends no body and no type with 204', async () => {
    const answer = await put('/v1/project-quotas/p1', { project_quotas: {} }).expect(204);
    expect(answer.text).toBe('');
    expect(answer.headers['content-type']).toBeUndefined();
  });

  it('an empty record is an entry of five nulls', async () => {
    await put('/v1/project-quotas/p1', { project_quotas: {} }).expect(204);
    expect((await get('/v1/project-quotas/p1').expect(200)).body).toEqual({ project_quotas: UNSET });
    expect((await get('/v1/project-quotas')).body.total).toBe(1);
  });

  it('PUT replaces the whole entry', async () => {
    await put('/v1/project-quotas/p1', { project_quotas: { secrets: 1, orders: 2 } }).expect(204);
    await put('/v1/project-quotas/p1', { project_quotas: { orders: 3 } }).expect(204);
    expect((await get('/v1/project-quotas/p1')).body.project_quotas).toEqual({ ...UNSET, orders: 3 });
  });

  it('a refused PUT leaves the old state', async () => {
    await put('/v1/project-quotas/p1', { project_quotas: { secrets: 1 } }).expect(204);
    await put('/v1/project-quotas/p1', { project_quotas: { secrets: 'x' } }).expect(400);
    expect((await get('/v1/project-quotas/p1')).body.project_quotas.secrets).toBe(1);
  });

  it('DELETE lets the defaults apply again; without an entry GET and DELETE are 404', async () => {
    await put('/v1/project-quotas/p1', { project_quotas: { secrets: 1 } });
    await agent().delete('/v1/project-quotas/p1').set(ADMIN).expect(204, '');
    const notFound = problem(404, 'Not Found', 'Project quotas not found.');
    expect((await agent().delete('/v1/project-quotas/p1').set(ADMIN).expect(404)).text).toBe(notFound);
    expect((await get('/v1/project-quotas/p1').expect(404)).text).toBe(notFound);
    expect((await agent().get('/v1/quotas').set(MEMBER)).body.quotas.secrets).toBe(100);
  });

  it('changes act on the next request of the project', async () => {
    await put('/v1/project-quotas/p1', { project_quotas: { secrets: 0 } });
    await expect(quota.reserve('p1', { secrets: 1 })).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' });
  });

  const values: [string, string][] = [
    ['10.0', '10'],
    ['1e2', '100'],
    ['-0', '0'],
    ['-0.0', '0'],
    ['-1', '-1'],
    ['0', '0'],
    ['9007199254740993', '9007199254740993'],
    ['9223372036854775807', '9223372036854775807'],
    ['null', 'null'],
    ['1, "secrets": 2', '2'],
  ];
  it.each(values)('PUT takes the value %s as %s', async (sent, kept) => {
    await put('/v1/project-quotas/p1', `{"project_quotas": {"secrets": ${sent}}}`).expect(204);
    expect((await get('/v1/project-quotas/p1')).text).toContain(`{"secrets": ${kept}, `);
  });

  const member = 'project_quotas';
  const violations: [string, string, string][] = [
    ['{"project_quotas": {"secrets": "10"}}', "'10' is not of type 'integer'", member],
    ['{"project_quotas": {"secrets": 1.5}}', "1.5 is not of type 'integer'", member],
    ['{"project_quotas": {"secrets": 1e-7}}', "1e-07 is not of type 'integer'", member],
    ['{"project_quotas": {"secrets": true}}', "True is not of type 'integer'", member],
    ['{"project_quotas": {"secrets": false}}', "False is not of type 'integer'", member],
    ['{"project_quotas": {"secrets": NaN}}', "nan is not of type 'integer'", member],
    ['{"project_quotas": {"secrets": Infinity}}', "inf is not of type 'integer'", member],
    ['{"project_quotas": {"secrets": 1e999}}', "inf is not of type 'integer'", member],
    ['{"project_quotas": {"secrets": {}}}', "{} is not of type 'integer'", member],
    ['{"project_quotas": {"secrets": [1]}}', "[1] is not of type 'integer'", member],
    ['{"project_quotas": {"secrets": [null, {"a": "b"}]}}', "[None, {'a': 'b'}] is not of type 'integer'", member],
    ['{"project_quotas": {"secrets": "it\'s"}}', "\"it's\" is not of type 'integer'", member],
    ['{"project_quotas": {"secrets": -2}}', '-2 is less than the minimum of -1', member],
    [
      '{"project_quotas": {"secrets": 9223372036854775808}}',
      '9223372036854775808 is greater than the maximum of 9223372036854775807',
      member,
    ],
    ['{"project_quotas": {"Secrets": 1}}', "Additional properties are not allowed ('Secrets' was unexpected)", member],
    [
      '{"project_quotas": {"x": 1, "secrets": "a", "y": 2}}',
      "Additional properties are not allowed ('x', 'y' were unexpected)",
      member,
    ],
    [
      '{"project_quotas": {"__proto__": 1}}',
      "Additional properties are not allowed ('__proto__' was unexpected)",
      member,
    ],
    ['{"project_quotas": {"cas": "b", "secrets": "a"}}', "'a' is not of type 'integer'", member],
    ['{"project_quotas": 5}', "5 is not of type 'object'", member],
    ['{"project_quotas": null}', "None is not of type 'object'", member],
    ['{"project_quotas": []}', "[] is not of type 'object'", member],
    ['{}', "'project_quotas' is a required property", 'None'],
    ['{"x": 1}', "'project_quotas' is a required property", 'None'],
    ['{"project_quotas": {}, "x": 1}', "Additional properties are not allowed ('x' was unexpected)", 'None'],
    ['[1]', "[1] is not of type 'object'", 'None'],
    ['"text"', "'text' is not of type 'object'", 'None'],
    ['null', "None is not of type 'object'", 'None'],
  ];
  it.each(violations)('PUT refuses %s because %s', async (body, reason, property) => {
    const answer = await put('/v1/project-quotas/p1', body).expect(400);
    const description = `Provided object does not match schema 'Project Quota': ${reason}. Invalid property: '${property}'`;
    expect(answer.text).toBe(problem(400, 'Bad Request', description));
    expect(answer.headers['content-type']).toBe('application/json');
    await get('/v1/project-quotas/p1').expect(404);
  });

  it.each([
    '{',
    ' ',
    '\ufeff{}',
    '{} x',
    '{"project_quotas": {"secrets": 010}}',
    "{'a': 1}",
    '{"a": 1,}',
    '[1,]',
    '"\n"',
  ])('PUT refuses %j as malformed', async (body) => {
    const answer = await put('/v1/project-quotas/p1', body).expect(400);
    expect(answer.text).toBe(problem(400, 'Bad Request', 'Malformed JSON'));
  });

  it('PUT refuses bytes that are no text, and nesting without end, as malformed', async () => {
    const bytes = Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]);
    const put = agent().put('/v1/project-quotas/p1').set(ADMIN).type('application/json');
    expect(
      (
        await put
          .serialize((body) => body)
          .send(bytes)
          .expect(400)
      ).body.description,
    ).toBe('Malformed JSON');
    const deep = '['.repeat(30_000);
    const again = agent().put('/v1/project-quotas/p1').set(ADMIN).type('application/json');
    expect((await again.send(deep).expect(400)).body.description).toMatch(/nested too deeply: the limit is 64 levels/);
  });

  it('PUT refuses an empty body', async () => {
    const answer = await put('/v1/project-quotas/p1', '').expect(400);
    expect(answer.text).toBe(problem(400, 'Bad Request', 'Project Quotas issue seen - No data supplied to process..'));
  });

  it('PUT refuses a body that is too large', async () => {
    const body = `{"project_quotas": {"secrets": 1}}${' '.repeat(100)}`;
    expect((await put('/v1/project-quotas/p1', body, { bodyLimitBytes: 99 }).expect(413)).body.code).toBe(413);
  });

  it.each([undefined, 'text/plain', 'Application/JSON', 'application/json2', 'application/x-www-form-urlencoded'])(
    'PUT refuses the media type %s',
    async (type) => {
      const call = agent().put('/v1/project-quotas/p1').set(ADMIN);
      if (type) call.set('Content-Type', type);
      const answer = await call.send(Buffer.from('not even JSON')).unset(type ? 'X-None' : 'Content-Type');
      expect(answer.text).toBe(
        problem(
          415,
          'Unsupported Media Type',
          "Unexpected content type. Expected content types are: ['application/json']",
        ),
      );
    },
  );

  it('PUT takes parameters of the media type', async () => {
    const call = agent().put('/v1/project-quotas/p1').set(ADMIN).set('Content-Type', 'application/json; charset=utf-8');
    await call.send('{"project_quotas": {}}').expect(204);
  });

  const ids: [string, string][] = [
    ['blanks and non-ASCII', 'a b ü 日本 \u{1f600}'],
    ['another letter case', 'P1'],
    ['dots', 'a.json'],
    ['255 characters', 'x'.repeat(255)],
    ['256 characters', 'x'.repeat(256)],
    ['__proto__', '__proto__'],
    ['constructor', 'constructor'],
    ['an encoded slash', 'a/b'],
    ['percent signs', '%2e%2E'],
    ['SQL', "'; DROP TABLE quota_limits; --"],
    ['markup', '<script>alert(1)</script>'],
    ['line ends', 'a\r\nb'],
  ];
  it.each(ids)('takes an id with %s as it is, with no effect on any other', async (_what, id) => {
    await put('/v1/project-quotas/p1', { project_quotas: { secrets: 1 } }).expect(204);
    const path = `/v1/project-quotas/${encodeURIComponent(id)}`;
    await put(path, { project_quotas: { secrets: 7 } }).expect(204);
    expect((await get(path).expect(200)).body.project_quotas.secrets).toBe(7);
    expect((await get('/v1/project-quotas/p1')).body.project_quotas.secrets).toBe(1);
    expect((await get('/v1/project-quotas')).body.project_quotas[1].project_id).toBe(id);
    await agent().delete(path).set(ADMIN).expect(204);
    await get(path).expect(404);
    await get('/v1/project-quotas/p1').expect(200);
  });

  it.each(['a%00b', 'x'.repeat(513)])('has no entry for an id that cannot be stored, and takes none', async (id) => {
    await get(`/v1/project-quotas/${id}`).expect(404);
    await agent().delete(`/v1/project-quotas/${id}`).set(ADMIN).expect(404);
    const refused = await put(`/v1/project-quotas/${id}`, { project_quotas: {} }).expect(400);
    expect(refused.body.description).toMatch(/^Project Quotas issue seen - A project id/);
  });

  it.each(['%', '%zz', '%ff', '%c3'])('has no path for the id %s, which is no text', async (id) => {
    await get(`/v1/project-quotas/${id}`).expect(404);
    await put(`/v1/project-quotas/${id}`, { project_quotas: {} }).expect(404);
  });
});

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

  it('lists entries by the time they were made, with links that follow the real path', async () => {
    await fill(3);
    await quota.set('p0', { cas: 1 });
    const answer = await get('/v1/project-quotas?limit=1&offset=1&marker=x').set('Host', 'q.example');
    expect(answer.text).toBe(
      '{"project_quotas": [{"project_id": "p1", "project_quotas": {"secrets": 1, "orders": null, "containers": null, ' +
        '"consumers": null, "cas": null}}], "previous": "http://q.example/v1/project-quotas?limit=1&offset=0", ' +
        '"next": "http://q.example/v1/project-quotas?limit=1&offset=2", "total": 3}',
    );
  });

  it('prints what is not ASCII as escapes', async () => {
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
  it.each(pages)('answers %s leniently', async (query, expected) => {
    await fill(12);
    expect(await page(query)).toEqual({ previous: undefined, next: undefined, total: 12, ...expected });
  });

  it('takes default and maximum of a page from its options', async () => {
    await fill(5);
    expect((await page('', { defaultLimit: 2 })).ids).toBe('0 1');
    expect((await page('?limit=50', { maxLimit: 3 })).ids).toBe('0 1 2');
  });

  it('links begin with the public URL, what a trusted proxy names, or where Express mounts it', async () => {
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

  it('does not put into links what no host is', async () => {
    await fill(2);
    const answer = await get('/v1/project-quotas?limit=1', { trustProxy: true }).set({
      Host: 'h"/><x',
      'X-Forwarded-Proto': 'javascript',
      'X-Forwarded-Host': 'a b',
    });
    expect(answer.body.next).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1\/project-quotas\?limit=1&offset=1$/);
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
      const answer = await get(path).expect(404);
      expect(answer.text).toBe(problem(404, 'Not Found', ''));
      expect(answer.headers['service-api-version']).toBe('key-manager 1.0');
    },
  );

  it.each([
    ['Express 5', express],
    ['Express 4', express4 as unknown as typeof express],
  ])('in %s, other paths go on to the app, and only they', async (_name, make) => {
    const app = make()
      .use(projectQuotaRouter({ quota, identity: headerIdentity({ confirmed: false }) }))
      .use((_req, res) => void res.status(200).send('the app'));
    await supertest(app).get('/v1/secrets').expect(200, 'the app');
    await supertest(app).options('/v1/secrets').expect(200, 'the app');
    await supertest(app).get('/v1/quotas/x').set(ADMIN).expect(404);
    await supertest(app).get('/v1/quotas').set(MEMBER).expect(200);
  });

  it('answers other paths too by option', async () => {
    const router = projectQuotaRouter({
      quota,
      identity: headerIdentity({ confirmed: false }),
      otherPaths: 'answer',
    });
    await supertest(express().use(router))
      .get('/v1/secrets')
      .set(MEMBER)
      .expect(404, problem(404, 'Not Found', ''));
  });

  it.each([
    ['Express 5', express],
    ['Express 4', express4 as unknown as typeof express],
  ])('in %s it takes a body that a parser has read already', async (_name, make) => {
    const app = make()
      .use(make.json())
      .use(projectQuotaRouter({ quota, identity: headerIdentity({ confirmed: false }) }));
    const call = supertest(app).put('/v1/project-quotas/p1').set(ADMIN);
    await call.send({ project_quotas: { secrets: 4 } }).expect(204);
    expect((await quota.get('p1'))!.secrets).toBe(4);
  });

  it('refuses what a parser before it may have rounded, and what it nested too deep', async () => {
    const app = express()
      .use(express.json())
      .use(projectQuotaRouter({ quota, identity: headerIdentity({ confirmed: false }) }));
    const send = (body: string) =>
      supertest(app).put('/v1/project-quotas/p1').set(ADMIN).type('application/json').send(body);
    for (const number of ['9007199254740993', '9007199254740992', '9223372036854775807', '-9007199254740993']) {
      const answer = await send(`{"project_quotas": {"secrets": ${number}}}`).expect(400);
      expect(answer.body.description).toMatch(/^Project Quotas issue seen - The number -?\d+ is too large/);
    }
    expect(await quota.get('p1')).toBeUndefined();
    await send('{"project_quotas": {"secrets": 9007199254740991}}').expect(204);
    expect((await quota.get('p1'))!.secrets).toBe(Number.MAX_SAFE_INTEGER);
    const deep = `{"project_quotas": ${'['.repeat(40_000)}${']'.repeat(40_000)}}`;
    expect((await send(deep).expect(400)).body.description).toMatch(/nested too deeply/);
    const wide = `{"project_quotas": [${'0,'.repeat(20_000)}0]}`;
    expect((await send(wide).expect(400)).body.description).toMatch(/too many values: the limit is 20000/);
    const refused = await send('{"project_quotas": {"secrets": "x"}}').expect(400);
    expect(refused.body.description).toContain("'x' is not of type 'integer'");
  });

  it('takes a body that a parser read as text, as bytes, or with large integers of its own', async () => {
    const parsers: [unknown, string][] = [
      ['{"project_quotas": {"secrets": 9007199254740993}}', '9007199254740993'],
      [Buffer.from('{"project_quotas": {"secrets": 9007199254740993}}'), '9007199254740993'],
      [{ project_quotas: { secrets: 9007199254740993n, orders: undefined } }, '9007199254740993'],
    ];
    for (const [body, kept] of parsers) {
      const app = express()
        .use((req, _res, next) => {
          req.resume().on('end', () => {
            req.body = body;
            next();
          });
        })
        .use(projectQuotaRouter({ quota, identity: headerIdentity({ confirmed: false }) }));
      await supertest(app).put('/v1/project-quotas/p1').set(ADMIN).type('application/json').send('{}').expect(204);
      expect(String((await quota.get('p1'))!.secrets)).toBe(kept);
    }
  });
});

describe('methods', () => {
  it.each(['post', 'patch', 'put', 'delete'] as const)('%s is not for reading', async (method) => {
    for (const path of ['/v1/quotas', '/v1/project-quotas']) {
      const answer = await agent()[method](path).set(ADMIN).expect(405);
      expect(answer.headers.allow).toBe('GET');
      expect(answer.text).toBe(problem(405, 'Method Not Allowed', ''));
    }
  });

  it('of one project are DELETE, GET and PUT', async () => {
    const answer = await agent().post('/v1/project-quotas/p1').set(ADMIN).expect(405);
    expect(answer.headers.allow).toBe('DELETE, GET, PUT');
  });

  it('HEAD is 405 everywhere, without a body', async () => {
    for (const path of ['/v1/quotas', '/v1/project-quotas', '/v1/project-quotas/p1'])
      expect((await agent().head(path).set(ADMIN).expect(405)).text).toBeFalsy();
  });

  it('OPTIONS is 200 with an empty body, whoever asks', async () => {
    for (const path of ['/v1/quotas', '/v1/project-quotas', '/v1/project-quotas/p1'])
      await agent().options(path).expect(200, '');
  });
});

describe('the order of checks', () => {
  const xml = { Accept: 'application/xml' };

  it('identity comes before the method', async () => {
    await agent().post('/v1/quotas').expect(400);
  });
  it('the method before the format', async () => {
    await agent().post('/v1/project-quotas').set(MEMBER).set(xml).expect(405);
  });
  it('the format before the path', async () => {
    const answer = await agent().get('/v1/nothing').set(MEMBER).set(xml).expect(406);
    expect(answer.text).toBe(problem(406, 'Not Acceptable', null));
  });
  it('the format before the role', async () => {
    await agent().get('/v1/project-quotas').set(MEMBER).set(xml).expect(406);
  });
  it('the role before whether the project is known', async () => {
    const answer = await agent().get('/v1/project-quotas/unknown').set(MEMBER).expect(403);
    const description = 'Project Quotas attempt not allowed - please review your user/project privileges';
    expect(answer.text).toBe(problem(403, 'Forbidden', description));
  });
  it('the role before the body', async () => {
    await agent().put('/v1/project-quotas/p1').set(MEMBER).type('text/plain').send('x').expect(403);
  });
  it('the media type before whether there is a body', async () => {
    await agent().put('/v1/project-quotas/p1').set(ADMIN).expect(415);
  });
});

describe('Accept', () => {
  const taken = [
    '',
    'application/json',
    '*/*',
    'application/*',
    'text/html, */*;q=0.1',
    'Application/JSON',
    'nonsense',
  ];
  it.each([...taken, 'application/json;charset=utf-8', 'application/json;q=2', 'application/json;q=0.1, */*;q=0'])(
    '%j takes JSON',
    async (accept) => {
      await agent().get('/v1/quotas').set(MEMBER).set('Accept', accept).expect(200);
    },
  );

  it('does not matter for DELETE, which has nothing to show', async () => {
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

  it.each(['admin', 'member', '', 'service-admin', 'key-manager:service-admin2'])('%j may not', async (roles) => {
    for (const path of ['/v1/project-quotas', '/v1/project-quotas/p1'])
      await agent()
        .get(path)
        .set({ ...MEMBER, 'X-Roles': roles })
        .expect(403);
  });

  it('the managing role is configurable', async () => {
    await agent({ adminRole: 'boss' })
      .get('/v1/project-quotas')
      .set({ ...MEMBER, 'X-Roles': 'Boss' })
      .expect(200);
    await get('/v1/project-quotas', { adminRole: 'boss' }).expect(403);
  });
});

describe('identity', () => {
  const strict = { identity: headerIdentity() };

  it.each([undefined, '', ' , '])(
    'that is confirmed and has the roles %j has none, admin least of all',
    async (roles) => {
      const headers = { 'x-identity-status': 'Confirmed', 'x-project-id': 'p1', 'x-roles': roles };
      expect((await headerIdentity()({ headers } as never))!.roles).toEqual([]);
      expect((await headerIdentity({ confirmed: false })({ headers } as never))!.roles).toEqual(['admin']);
      const call = agent({ ...strict, adminRole: 'admin', readerRoles: ['admin'] });
      for (const path of ['/v1/quotas', '/v1/project-quotas']) {
        await call.get(path).set({ 'X-Identity-Status': 'Confirmed', 'X-Project-Id': 'p1' }).expect(403);
      }
    },
  );

  it.each([{}, { 'X-Project-Id': '' }, { 'X-Project-Id': '  ' }])('without a project is 400: %j', async (headers) => {
    const missing = await agent().get('/v1/quotas').set(headers).set('Accept', 'application/json').expect(400);
    expect(missing.body).toEqual({ message: 'Missing X-Project-Id', code: '400 Bad Request', title: 'Bad Request' });
    expect(missing.headers['service-api-version']).toBeUndefined();
    expect(missing.headers['x-service-request-id']).toBeUndefined();
  });

  it('without a project is plain text without Accept, and HTML for html or anything', async () => {
    const plain = await agent().get('/v1/quotas').unset('Accept').expect(400);
    expect(plain.headers['content-type']).toMatch(/^text\/plain/);
    expect(plain.text).toContain('Missing X-Project-Id');
    for (const accept of ['*/*', 'text/html']) {
      const html = await agent().get('/v1/quotas').set('Accept', accept).expect(400);
      expect(html.headers['content-type']).toMatch(/^text\/html/);
    }
  });

  it.each([undefined, 'Invalid', 'confirmed', ''])(
    'with the status %s of an authenticating proxy is 401',
    async (status) => {
      const call = agent(strict).get('/v1/quotas').set(ADMIN);
      if (status !== undefined) call.set('X-Identity-Status', status);
      const answer = await call.expect(401);
      expect(answer.headers['content-type']).toMatch(/^text\/plain/);
      expect(answer.headers['service-api-version']).toBeUndefined();
    },
  );

  it('confirmed by an authenticating proxy is believed', async () => {
    await agent(strict).get('/v1/project-quotas').set(ADMIN).set('X-Identity-Status', 'Confirmed').expect(200);
  });

  it('without roles is admin, which may not manage the quotas of projects', async () => {
    await agent({ readerRoles: ['admin'] })
      .get('/v1/quotas')
      .set('X-Project-Id', 'p1')
      .expect(200);
    await agent().get('/v1/project-quotas').set('X-Project-Id', 'p1').expect(403);
  });

  it('is an opaque project id: letter case counts, and text beyond ASCII is the same as in a path', async () => {
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

  it('may come from any function, which may refuse', async () => {
    const known = async () => ({ projectId: 'p1', roles: [] });
    await agent({ identity: known }).get('/v1/quotas').expect(200);
    await agent({ identity: () => undefined })
      .get('/v1/quotas')
      .expect(401);
    const refuse = () => {
      throw new IdentityError(503, 'no <identity> service');
    };
    const refused = await agent({ identity: refuse }).get('/v1/quotas').set('Accept', 'text/html').expect(503);
    expect(refused.text).toContain('no &lt;identity&gt; service');
  });

  it('too long for a project is refused, not an error', async () => {
    await agent().get('/v1/quotas').set('X-Project-Id', 'x'.repeat(600)).expect(400);
  });
});

describe('headers', () => {
  it('of every answer of the service name version, Vary and a request id', async () => {
    const paths: [string, object, number][] = [
      ['/v1/quotas', MEMBER, 200],
      ['/v1/project-quotas', MEMBER, 403],
      ['/v1/project-quotas/x', ADMIN, 404],
    ];
    for (const [path, headers, status] of paths) {
      const answer = await agent()
        .get(path)
        .set({ ...headers })
        .expect(status);
      expect(answer.headers['service-api-version']).toBe('key-manager 1.0');
      expect(answer.headers.vary).toBe('Service-API-Version');
      expect(answer.headers['x-service-request-id']).toMatch(/^req-[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/);
    }
  });

  it('echo an inbound request id as it is', async () => {
    const answer = await get('/v1/quotas').set('X-Service-Request-ID', 'whatever you like');
    expect(answer.headers['x-service-request-id']).toBe('whatever you like');
  });

  it('keep the request id and Vary of a middleware before', async () => {
    const app = express()
      .use((_req, res, next) => {
        res.setHeader('X-Service-Request-ID', 'req-before').setHeader('Vary', 'Origin');
        next();
      })
      .use(handler() as express.RequestHandler);
    const answer = await supertest(app).get('/v1/quotas').set(MEMBER);
    expect(answer.headers['x-service-request-id']).toBe('req-before');
    expect(answer.headers.vary).toBe('Origin, Service-API-Version');
  });

  it.each([
    ['key-manager 1.0', '1.0'],
    ['key-manager 1.1', '1.1'],
    ['Key-Manager 1.1', '1.1'],
    ['key-manager +01 . 01', '1.1'],
    ['compute 2.27, key-manager 1.1', '1.1'],
    ['key-manager 1.0, key-manager 1.1', '1.1'],
    ['compute 2.27', '1.0'],
    ['1.1', '1.0'],
    ['', '1.0'],
    ['key-manager latest', '1.1'],
    ['Key-Manager latest', '1.1'],
  ])('ask for %j and get version %s', async (asked, got) => {
    const answer = await get('/v1/quotas').set('Service-API-Version', asked).expect(200);
    expect(answer.headers['service-api-version']).toBe(`key-manager ${got}`);
  });

  it.each(['1', '1.0.0', 'Latest', 'LATEST', 'x.y'])('with the version %s are 400', async (version) => {
    const answer = await get('/v1/quotas').set('Service-API-Version', `key-manager ${version}`).expect(400);
    expect(answer.text).toContain('Invalid microversion: ');
    expect(answer.headers['service-api-version']).toBeUndefined();
    expect(answer.headers.vary).toBeUndefined();
    expect(answer.headers['x-service-request-id']).toMatch(/^req-/);
  });

  it.each(['1.2', '0.9', '2.0', `1.${'9'.repeat(3000)}`])(
    'with the version %s are 406 with the range',
    async (version) => {
      const answer = await get('/v1/quotas').set('Service-API-Version', `key-manager ${version}`).expect(406);
      expect(answer.body.errors[0]).toMatchObject({
        status: 406,
        detail: `Invalid microversion: Unacceptable version header: ${version}`,
        min_version: '1.0',
        max_version: '1.1',
      });
      expect(answer.headers['service-api-version']).toBeUndefined();
      expect(answer.headers['x-service-request-id']).toMatch(/^req-/);
    },
  );

  it('of both families are understood and answered where both are served', async () => {
    const asked = { 'OpenStack-API-Version': 'key-manager 1.1' };
    const both = await get('/v1/quotas', { headers: 'both' })
      .set(asked)
      .set('X-OpenStack-Request-ID', 'mine')
      .expect(200);
    expect(both.headers).toMatchObject({
      'service-api-version': 'key-manager 1.1',
      'openstack-api-version': 'key-manager 1.1',
      vary: 'Service-API-Version, OpenStack-API-Version',
      'x-service-request-id': 'mine',
      'x-openstack-request-id': 'mine',
    });
    const openstack = await get('/v1/quotas', { headers: 'openstack' }).set(asked).expect(200);
    expect(openstack.headers['openstack-api-version']).toBe('key-manager 1.1');
    expect(openstack.headers['x-openstack-request-id']).toMatch(/^req-/);
    expect(openstack.headers['service-api-version']).toBeUndefined();
    const service = await get('/v1/quotas').set(asked).expect(200);
    expect(service.headers['service-api-version']).toBe('key-manager 1.0');
    expect(service.headers['openstack-api-version']).toBeUndefined();
  });

  it('have other names and another service type by option', async () => {
    const options = { serviceType: 'vault', headers: { typed: ['X-Api'] }, requestIdHeaders: ['X-Id'] };
    const answer = await get('/v1/quotas', options).set('X-Api', 'vault 1.1').set('X-Id', 'mine').expect(200);
    expect(answer.headers).toMatchObject({ 'x-api': 'vault 1.1', vary: 'X-Api', 'x-id': 'mine' });
  });
});

describe('a failing store', () => {
  it('is a 500 that tells nothing, and a hook is told', async () => {
    const down = new Proxy({} as QuotaStore, { get: () => () => Promise.reject(new Error('password is 1234')) });
    const onError = vi.fn();
    const options = { quota: projectQuotas({ store: down }), onError };
    for (const path of ['/v1/project-quotas', '/v1/project-quotas/p1']) {
      const answer = await get(path, options).expect(500);
      const description = 'Project Quotas failure seen - please contact site administrator.';
      expect(answer.text).toBe(problem(500, 'Internal Server Error', description));
      expect(answer.headers['service-api-version']).toBe('key-manager 1.0');
    }
    await put('/v1/project-quotas/p1', { project_quotas: {} }, options).expect(500);
    expect(onError.mock.calls[0]![0]).toMatchObject({ code: 'QUOTA_STORE_UNAVAILABLE' });
  });
});

describe('the options of projectQuotaRouter()', () => {
  it.each([
    [{ quotta: 1 }, 'did you mean "quota"?'],
    [{ quota: undefined }, 'a quota is needed'],
    [{ identity: undefined }, 'identity must be a function'],
    [{ otherPaths: 'drop' }, '"next" or "answer"'],
    [{ maxLimit: 0 }, 'maxLimit must be'],
    [{ headers: { typed: ['a b'] } }, 'a b'],
    [{ headers: 'compute' }, 'service, openstack, both'],
    [{ requestIdHeaders: ['a b'] }, 'a b'],
  ])('%j are refused', (options, message) => {
    const make = () => projectQuotaRouter({ quota, identity: headerIdentity(), ...options } as never);
    expect(make).toThrow(message);
  });
});
