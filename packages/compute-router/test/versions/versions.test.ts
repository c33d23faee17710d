import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newestSupported } from '../../src/index.js';
import { type Api, apiUnderTest, ids } from '../api-under-test.js';
import { LATEST } from '../contract/reference.js';

interface Got {
  readonly status: number;
  readonly headers: Headers;
  readonly body: any;
}

describe('the versions of the API', () => {
  let api: Api;
  beforeAll(async () => {
    api = await apiUnderTest();
  });
  afterAll(() => api.close());

  async function get(path: string, headers: Record<string, string> = {}, init: RequestInit = {}): Promise<Got> {
    const response = await fetch(`${api.url}${path}`, { redirect: 'manual', ...init, headers });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text.startsWith('{') ? JSON.parse(text) : text };
  }
  const ada = { 'X-Auth-Token': 'ada:p1', 'Content-Type': 'application/json' };
  const versionHeaders = ['openstack-api-version', 'x-openstack-nova-api-version', 'service-api-version', 'vary'];

  it('are listed without token and without version headers', async () => {
    const { status, headers, body } = await get('/');
    expect(status).toBe(200);
    expect(body).toEqual({
      versions: [
        {
          id: 'v2.0',
          status: 'SUPPORTED',
          version: '',
          min_version: '',
          updated: '2011-01-21T11:33:21Z',
          links: [{ rel: 'self', href: `${api.url}/v2/` }],
        },
        {
          id: 'v2.1',
          status: 'CURRENT',
          version: '2.100',
          min_version: '2.1',
          updated: '2013-07-23T11:33:21Z',
          links: [{ rel: 'self', href: `${api.url}/v2.1/` }],
        },
      ],
    });
    for (const name of [...versionHeaders, 'x-compute-request-id']) expect(headers.get(name)).toBeNull();
    expect((await get('/', { 'OpenStack-API-Version': 'compute nonsense' })).status).toBe(200);
  });

  it('have a document each, with and without a trailing slash, without authentication', async () => {
    const { versions } = (await get('/')).body;
    for (const [path, listed] of [
      ['/v2', versions[0]],
      ['/v2/', versions[0]],
      ['/v2.1', versions[1]],
      ['/v2.1/', versions[1]],
    ]) {
      const { status, headers, body } = await get(path);
      expect(status).toBe(200);
      expect(headers.get('content-type')).toBe('application/json');
      const { links, 'media-types': mediaTypes, ...rest } = body.version;
      const { links: listedLinks, ...listedRest } = listed;
      expect(rest).toEqual(listedRest);
      expect(links).toEqual([...listedLinks, { rel: 'describedby', type: 'text/html', href: expect.any(String) }]);
      expect(mediaTypes).toEqual([{ base: 'application/json', type: expect.stringContaining('openstack.compute') }]);
    }
  });

  it('have version headers on the newer document only', async () => {
    const { headers } = await get('/v2.1/', { 'OpenStack-API-Version': 'compute 2.27' });
    expect(headers.get('openstack-api-version')).toBe('compute 2.27');
    for (const name of versionHeaders) expect((await get('/v2/')).headers.get(name)).toBeNull();
  });

  it('have their documents below /versions, too, where a token is required', async () => {
    const document = (await get('/v2.1/')).body;
    for (const path of ['/v2.1/versions/v2.1', '/v2.1/versions/v2.1?a=b'])
      expect((await get(path, { ...ada, 'OpenStack-API-Version': 'compute 2.100' })).body).toEqual(document);
    expect((await get('/v2.1/versions/v2.0', ada)).body).toEqual((await get('/v2/')).body);
    expect((await get('/v2.1/versions/v9', ada)).body.itemNotFound.code).toBe(404);
    expect((await get('/v2.1/versions/v2.1')).status).toBe(401);
    expect((await get('/v2/versions/v2.1', ada)).body).toEqual((await get('/v2/')).body);
  });

  it('are the choices for an unversioned path', async () => {
    for (const path of ['/servers', '/v3/servers', '/v2.10/', '/vv']) {
      const { status, headers, body } = await get(path);
      expect(status).toBe(300);
      expect(body).toEqual({
        choices: [
          {
            id: 'v2.0',
            status: 'SUPPORTED',
            links: [{ rel: 'self', href: `${api.url}/v2${path}` }],
            'media-types': [{ base: 'application/json', type: 'application/vnd.openstack.compute+json;version=2' }],
          },
          {
            id: 'v2.1',
            status: 'CURRENT',
            links: [{ rel: 'self', href: `${api.url}/v2.1${path}` }],
            'media-types': [{ base: 'application/json', type: 'application/vnd.openstack.compute+json;version=2.1' }],
          },
        ],
      });
      for (const name of versionHeaders) expect(headers.get(name)).toBeNull();
    }
  });

  it('return 404 for a path with only a project, and for a trailing slash', async () => {
    for (const path of ['/v2.1/abc', '/v2.1/abc/', '/v2.1/servers/', '/v2/servers/']) {
      const { status, headers } = await get(path, ada);
      expect([path, status, headers.get('openstack-api-version')]).toEqual([path, 404, null]);
    }
  });

  it('contain the host of the request', async () => {
    const { port } = new URL(api.url);
    const body = await new Promise<any>((resolve, reject) => {
      const sent = request({ port, path: '/v2.1/', headers: { Host: 'cloud.example:8774' } }, async (result) => {
        const chunks = [];
        for await (const chunk of result) chunks.push(chunk);
        resolve(JSON.parse(Buffer.concat(chunks).toString()));
      });
      sent.once('error', reject);
      sent.end();
    });
    expect(body.version.links[0].href).toBe('http://cloud.example:8774/v2.1/');
  });

  describe('the mount that predates microversions', () => {
    it('serves the first version for any requested version, without version headers', async () => {
      for (const expected of ['compute 2.90', 'compute latest', 'compute 9.9', 'compute nonsense']) {
        const { status, headers, body } = await get(`/v2/flavors/${ids.tiny}`, {
          ...ada,
          'OpenStack-API-Version': expected,
          'X-OpenStack-Nova-API-Version': expected,
        });
        expect(status).toBe(200);
        expect(body.flavor).not.toHaveProperty('description');
        for (const name of versionHeaders) expect(headers.get(name)).toBeNull();
        expect(headers.get('x-compute-request-id')).toMatch(/^req-/);
      }
      expect((await get('/v2/servers/x/tags', { ...ada, 'OpenStack-API-Version': 'compute 2.26' })).status).toBe(404);
    });

    it('has links to itself', async () => {
      const { flavor } = (await get(`/v2/flavors/${ids.tiny}`, ada)).body;
      expect(flavor.links).toEqual([
        { rel: 'self', href: `${api.url}/v2/flavors/${ids.tiny}` },
        { rel: 'bookmark', href: `${api.url}/flavors/${ids.tiny}` },
      ]);
      const newer = (await get(`/v2.1/flavors/${ids.tiny}`, ada)).body.flavor;
      expect(newer.links[0].href).toBe(`${api.url}/v2.1/flavors/${ids.tiny}`);
      expect((await get('/v2/flavors?limit=1', ada)).body.flavors_links[0].href).toContain(`${api.url}/v2/flavors?`);
    });

    it('accepts only the project of the token in the path', async () => {
      const hex = { 'X-Auth-Token': 'ada:ab12' };
      expect((await get('/v2/ab12/servers', hex)).status).toBe(200);
      expect((await get('/v2/ab13/servers', hex)).status).toBe(400);
      expect((await get('/v2/ab12', hex)).status).toBe(404);
      expect((await get('/v2/servers')).status).toBe(401);
    });

    it('ignores unknown keys, but validates known ones', async () => {
      const post = (mount: string, keypair: object, more: object = {}) =>
        get(`${mount}/os-keypairs`, ada, { method: 'POST', body: JSON.stringify({ keypair, ...more }) });
      expect((await post('/v2.1', { name: 'k', more: 1 })).status).toBe(400);
      expect((await post('/v2', { name: 'k', more: 1, less: { deep: 2 } }, { beside: 3 })).status).toBe(200);
      expect((await post('/v2', { name: '', more: 1 })).status).toBe(400);
      expect((await post('/v2', { more: 1 })).status).toBe(400);
      const proto = '{"keypair": {"name": "p", "__proto__": {"a": 1}, "constructor": 1}}';
      expect((await get('/v2/os-keypairs', ada, { method: 'POST', body: proto })).status).toBe(200);
      expect(api.errors).toEqual([]);
    });
  });
});

describe('the highest version', () => {
  it('is 2.100 by default, and at most the newest of the reference', async () => {
    const usual = await apiUnderTest();
    expect((await usual.as('ada:p1', '2.101').get('/flavors')).status).toBe(406);
    const { flavor } = (await usual.as('ada:p1', 'latest').get(`/flavors/${ids.tiny}`)).body;
    expect(flavor).toHaveProperty('rxtx_factor');
    await usual.close();
    const later = await apiUnderTest({ router: { maxVersion: LATEST } });
    const latest = await later.as('ada:p1', 'latest').get(`/flavors/${ids.tiny}`);
    expect(latest.headers.get('openstack-api-version')).toBe(`compute ${LATEST}`);
    expect(latest.body.flavor).not.toHaveProperty('rxtx_factor');
    expect(latest.body.flavor).not.toHaveProperty('OS-FLV-DISABLED:disabled');
    const beyondLatest = newestSupported().next().text;
    expect((await later.as('ada:p1', beyondLatest).get('/flavors')).status).toBe(406);
    await later.close();
    expect(newestSupported().text).toBe(LATEST);
    const last = await apiUnderTest({ router: { maxVersion: 'latest' } });
    const highest = await last.as('ada:p1', 'latest').get('/flavors');
    expect(highest.headers.get('openstack-api-version')).toBe(`compute ${LATEST}`);
    await last.close();
    for (const beyond of [beyondLatest, '3.1'])
      await expect(apiUnderTest({ router: { maxVersion: beyond } })).rejects.toThrow(LATEST);
  });

  it('excludes os-volumes_boot, the alias of the servers, after 2.102', async () => {
    const api = await apiUnderTest({ router: { maxVersion: LATEST } });
    const server = { name: 'web', flavorRef: ids.tiny, imageRef: ids.image, networks: 'none' };
    const created = await api.as('ada:p1', '2.102').post('/os-volumes_boot', { server });
    expect(created.status).toBe(202);
    await api.idle();
    const { id } = created.body.server;
    const path = `/os-volumes_boot/${id}`;
    const [old, removed] = [api.as('ada:p1', '2.102'), api.as('ada:p1', '2.103')];
    expect((await old.get(path)).body).toEqual((await old.get(`/servers/${id}`)).body);
    expect((await old.get('/os-volumes_boot/detail')).body.servers).toHaveLength(1);
    expect((await old.post(`${path}/action`, { 'os-stop': null })).status).toBe(202);
    await api.idle();
    expect((await api.as('ada:p1', '2.1').post(`${path}/action`, { lock: null })).status).toBe(202);
    expect((await old.delete(path)).status).toBe(409);
    expect((await old.post(`${path}/action`, { unlock: null })).status).toBe(202);
    expect((await api.as('bob:p2', '2.102').get(path)).status).toBe(404);
    for (const removedPath of ['/os-volumes_boot', '/os-volumes_boot/detail', path])
      expect((await removed.get(removedPath)).status).toBe(404);
    expect((await removed.post('/os-volumes_boot', { server })).status).toBe(404);
    expect((await removed.post(`${path}/action`, { 'os-start': null })).status).toBe(404);
    expect((await removed.delete(path)).status).toBe(404);
    expect((await api.as('ada:p1', '2.102').delete(path)).status).toBe(204);
    expect(api.errors).toEqual([]);
    await api.close();
  });
});
