import { describe, expect, it } from 'vitest';
import { ADMIN, agent, get, MEMBER, onFreshQuota, problem, put, quota, UNSET } from './requests.js';

onFreshQuota();

describe('GET /v1/quotas', () => {
  it('returns the effective limits of the project of the caller, in one line with spaces', async () => {
    await quota.set('p1', { orders: 5 });
    const response = await agent().get('/v1/quotas').set(MEMBER).expect(200);
    expect(response.text).toBe(
      '{"quotas": {"secrets": 100, "orders": 5, "containers": -1, "consumers": -1, "cas": -1}}',
    );
    expect(response.headers['content-type']).toBe('application/json');
  });

  it('is never 404, and the query string cannot select another project', async () => {
    await quota.set('p2', { secrets: 1 });
    const result = await agent().get('/v1/quotas?project_id=p2').set(MEMBER).expect(200);
    expect(result.body.quotas.secrets).toBe(100);
  });

  it('is allowed for every authenticated caller unless roles are configured', async () => {
    await agent()
      .get('/v1/quotas')
      .set({ ...MEMBER, 'X-Roles': 'anything' })
      .expect(200);
    const readerRoles = ['observer', 'Creator'];
    const rejected = await agent({ readerRoles }).get('/v1/quotas').set(MEMBER).expect(403);
    expect(rejected.text).toBe(
      problem(403, 'Forbidden', 'Quotas attempt not allowed - please review your user/project privileges'),
    );
    await agent({ readerRoles })
      .get('/v1/quotas')
      .set({ ...MEMBER, 'X-Roles': 'creator' })
      .expect(200);
  });
});

describe('/v1/project-quotas/{id}', () => {
  it('returns the limits of the project, null for a kind without a limit, in the order of the kinds', async () => {
    await put('/v1/project-quotas/p1', { project_quotas: { cas: 0, secrets: 10, orders: null } }).expect(204);
    const response = await get('/v1/project-quotas/p1').expect(200);
    expect(response.text).toBe(
      '{"project_quotas": {"secrets": 10, "orders": null, "containers": null, "consumers": null, "cas": 0}}',
    );
  });

  it('sends neither body nor content type with 204', async () => {
    const response = await put('/v1/project-quotas/p1', { project_quotas: {} }).expect(204);
    expect(response.text).toBe('');
    expect(response.headers['content-type']).toBeUndefined();
  });

  it('stores an empty record as an entry of five nulls', async () => {
    await put('/v1/project-quotas/p1', { project_quotas: {} }).expect(204);
    expect((await get('/v1/project-quotas/p1').expect(200)).body).toEqual({ project_quotas: UNSET });
    expect((await get('/v1/project-quotas')).body.total).toBe(1);
  });

  it('replaces the whole entry on PUT', async () => {
    await put('/v1/project-quotas/p1', { project_quotas: { secrets: 1, orders: 2 } }).expect(204);
    await put('/v1/project-quotas/p1', { project_quotas: { orders: 3 } }).expect(204);
    expect((await get('/v1/project-quotas/p1')).body.project_quotas).toEqual({ ...UNSET, orders: 3 });
  });

  it('keeps the old state if PUT is rejected', async () => {
    await put('/v1/project-quotas/p1', { project_quotas: { secrets: 1 } }).expect(204);
    await put('/v1/project-quotas/p1', { project_quotas: { secrets: 'x' } }).expect(400);
    expect((await get('/v1/project-quotas/p1')).body.project_quotas.secrets).toBe(1);
  });

  it('applies the defaults again after DELETE; without an entry GET and DELETE return 404', async () => {
    await put('/v1/project-quotas/p1', { project_quotas: { secrets: 1 } });
    await agent().delete('/v1/project-quotas/p1').set(ADMIN).expect(204, '');
    const notFound = problem(404, 'Not Found', 'Project quotas not found.');
    expect((await agent().delete('/v1/project-quotas/p1').set(ADMIN).expect(404)).text).toBe(notFound);
    expect((await get('/v1/project-quotas/p1').expect(404)).text).toBe(notFound);
    expect((await agent().get('/v1/quotas').set(MEMBER)).body.quotas.secrets).toBe(100);
  });

  it('applies changes to the next request of the project', async () => {
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
  it.each(values)('accepts the value %s in PUT as %s', async (sent, retained) => {
    await put('/v1/project-quotas/p1', `{"project_quotas": {"secrets": ${sent}}}`).expect(204);
    expect((await get('/v1/project-quotas/p1')).text).toContain(`{"secrets": ${retained}, `);
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
  it.each(violations)('rejects %s in PUT because %s', async (body, reason, property) => {
    const response = await put('/v1/project-quotas/p1', body).expect(400);
    const description = `Provided object does not match schema 'Project Quota': ${reason}. Invalid property: '${property}'`;
    expect(response.text).toBe(problem(400, 'Bad Request', description));
    expect(response.headers['content-type']).toBe('application/json');
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
  ])('PUT rejects %j as malformed', async (body) => {
    const response = await put('/v1/project-quotas/p1', body).expect(400);
    expect(response.text).toBe(problem(400, 'Bad Request', 'Malformed JSON'));
  });

  it('rejects invalid UTF-8 and excessive nesting in PUT as malformed', async () => {
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

  it('rejects an empty body in PUT', async () => {
    const response = await put('/v1/project-quotas/p1', '').expect(400);
    expect(response.text).toBe(
      problem(400, 'Bad Request', 'Project Quotas issue seen - No data supplied to process..'),
    );
  });

  it('rejects a body in PUT that is too large', async () => {
    const body = `{"project_quotas": {"secrets": 1}}${' '.repeat(100)}`;
    expect((await put('/v1/project-quotas/p1', body, { bodyLimitBytes: 99 }).expect(413)).body.code).toBe(413);
  });

  it.each([undefined, 'text/plain', 'Application/JSON', 'application/json2', 'application/x-www-form-urlencoded'])(
    'rejects the media type %s in PUT',
    async (type) => {
      const call = agent().put('/v1/project-quotas/p1').set(ADMIN);
      if (type) call.set('Content-Type', type);
      const response = await call.send(Buffer.from('not even JSON')).unset(type ? 'X-None' : 'Content-Type');
      expect(response.text).toBe(
        problem(
          415,
          'Unsupported Media Type',
          "Unexpected content type. Expected content types are: ['application/json']",
        ),
      );
    },
  );

  it('accepts parameters of the media type in PUT', async () => {
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
  it.each(ids)('accepts an id with %s unchanged, without effect on other projects', async (_what, id) => {
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

  it.each(['a%00b', 'x'.repeat(513)])(
    'has no entry for an id that cannot be stored, and rejects one in PUT',
    async (id) => {
      await get(`/v1/project-quotas/${id}`).expect(404);
      await agent().delete(`/v1/project-quotas/${id}`).set(ADMIN).expect(404);
      const rejected = await put(`/v1/project-quotas/${id}`, { project_quotas: {} }).expect(400);
      expect(rejected.body.description).toMatch(/^Project Quotas issue seen - A project id/);
    },
  );

  it.each(['%', '%zz', '%ff', '%c3'])('returns 404 for the malformed id %s', async (id) => {
    await get(`/v1/project-quotas/${id}`).expect(404);
    await put(`/v1/project-quotas/${id}`, { project_quotas: {} }).expect(404);
  });
});
