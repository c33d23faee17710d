import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseIsoTime } from '../../src/schemas/date-time.js';
import { type Api, apiUnderTest, type Client, ids } from '../api-under-test.js';
import { LATEST } from './reference.js';

const owner = { userId: 'ada', projectId: 'p1', roles: ['member'] };

/** Characters of every category that are allowed inside names, and characters that are not allowed. */
const printable = ['a b', 'a\u00a0b', 'a\u3000b', 'é', '漢字', 'a\u0301', '\ufffd', '€', 'ﬀ'];
const unprintable = [
  ...['\t', '\n', '\r', '\0', '\u007f', '\u0085'].map((control) => `a${control}b`),
  ...['\u00ad', '\u200b', '\u200d', '\u2028', '\u2029', '\ue000', '\ufeff', '\u0378', '\uffff', '\ud800'].map(
    (other) => `a${other}b`,
  ),
  // Characters outside the basic multilingual plane, which the original rejects.
  '😀',
  '𝒜',
  'a\u{1f600}b',
];

describe('accepted inputs', () => {
  let api: Api;
  let ada: Client;
  let admin: Client;
  beforeAll(async () => {
    api = await apiUnderTest({
      router: { maxVersion: LATEST },
      engine: { settings: { quotas: { instances: -1, cores: -1, ram: -1 } as never } },
    });
    ada = api.as('ada:p1', '2.100');
    admin = api.as('admin:p1', '2.100');
  });
  afterAll(async () => {
    expect(api.errors).toEqual([]);
    await api.close();
  });

  describe('names and descriptions', () => {
    const flavor = (fields: object) =>
      admin.post('/flavors', { flavor: { name: randomUUID(), ram: 1, vcpus: 1, disk: 1, ...fields } });
    const aggregate = (fields: object) => admin.post('/os-aggregates', { aggregate: fields });

    it.each(printable)('may contain %j, which is printable', async (text) => {
      expect((await flavor({ name: text })).status).toBe(200);
      expect((await flavor({ description: text })).status).toBe(200);
      expect((await aggregate({ name: text, availability_zone: text })).status).toBe(200);
    });

    it.each(unprintable)('may not contain %j, which is unprintable', async (text) => {
      expect((await flavor({ name: text })).status).toBe(400);
      expect((await flavor({ description: text })).status).toBe(400);
      expect((await aggregate({ name: text })).status).toBe(400);
      expect((await aggregate({ name: randomUUID(), availability_zone: text })).status).toBe(400);
      const { id } = await ada.boot();
      expect((await ada.put(`/servers/${id}`, { server: { name: text } })).status).toBe(400);
      expect((await ada.put(`/servers/${id}`, { server: { description: text } })).status).toBe(400);
    });

    it.each([' a', 'a ', '\u00a0a', 'a\u3000', '', ' '])(
      'reject %j as a name, and accept it as a description',
      async (text) => {
        expect((await flavor({ name: text })).status).toBe(400);
        const described = await flavor({ description: text });
        expect([described.status, described.body.flavor?.description]).toEqual([200, text]);
      },
    );

    it('accept a line feed at the end of a description only', async () => {
      expect((await flavor({ description: 'a\n' })).status).toBe(200);
      for (const description of ['a\n\n', '\na', 'a\r\n']) expect((await flavor({ description })).status).toBe(400);
    });

    it('accept spaces around the name of an aggregate on update, but never a leading line feed', async () => {
      const { id } = (await aggregate({ name: randomUUID() })).body.aggregate;
      const renamed = (name: string) => admin.put(`/os-aggregates/${id}`, { aggregate: { name } });
      expect((await renamed('  d e ')).body.aggregate.name).toBe('d e');
      expect((await renamed('f\n')).body.aggregate.name).toBe('f');
      for (const name of ['\na', ' \na', 'a\nb', '\ta', '  ', '\n']) expect((await renamed(name)).status).toBe(400);
    });

    it('reject an empty zone of an aggregate, and accept null', async () => {
      expect((await aggregate({ name: randomUUID(), availability_zone: '' })).status).toBe(400);
      expect((await aggregate({ name: randomUUID(), availability_zone: 'a:b' })).status).toBe(400);
      expect((await aggregate({ name: randomUUID(), availability_zone: null })).status).toBe(200);
    });
  });

  it.each([
    ['/servers?limit=', '2.1'],
    ['/servers/detail?limit=', '2.100'],
    ['/flavors?limit=', '2.1'],
    ['/os-keypairs?limit=', '2.35'],
    ['/os-server-groups?limit=', '2.1'],
    ['/os-server-groups?offset=', '2.100'],
    ['/os-migrations?limit=', '2.59'],
    ['/os-hypervisors?limit=', '2.33'],
    ['/os-simple-tenant-usage?limit=', '2.40'],
    ['/os-security-groups?limit=', '2.1'],
    ['/os-security-groups?offset=', '2.1'],
  ])('exclude an empty value of %s at %s', async (path, version) => {
    expect((await api.as('admin:p1', version).get(path)).status).toBe(400);
    expect((await api.as('admin:p1', version).get(`${path}1`)).status).toBe(200);
  });

  it('include an empty body and null for PUT .../tags/{tag}', async () => {
    const { id } = await ada.boot();
    const put = (tag: string, body?: unknown) => ada.put(`/servers/${id}/tags/${tag}`, body);
    expect((await put('a')).status).toBe(201);
    expect((await put('b', null)).status).toBe(201);
    for (const body of [{}, [], 'c', 1, { tag: 'c' }]) expect((await put('c', body)).status).toBe(400);
    expect((await ada.get(`/servers/${id}/tags`)).body.tags).toEqual(['a', 'b']);
  });

  it.each<[string, number | undefined]>([
    ['2020', Date.UTC(2020, 0)],
    ['2020-2', Date.UTC(2020, 1)],
    ['2020-02-29', Date.UTC(2020, 1, 29)],
    ['2020-2-9', Date.UTC(2020, 1, 9)],
    ['20200229', Date.UTC(2020, 1, 29)],
    ['2020-02-29T01', Date.UTC(2020, 1, 29, 1)],
    ['2020-02-29 01:02', Date.UTC(2020, 1, 29, 1, 2)],
    ['20200229T010203Z', Date.UTC(2020, 1, 29, 1, 2, 3)],
    ['2020-02-29T01:02:03.0456789', Date.UTC(2020, 1, 29, 1, 2, 3, 45)],
    ['2020-02-29T01:02:03,4Z', Date.UTC(2020, 1, 29, 1, 2, 3, 400)],
    ['2020-02-29T01:02:03+01:30', Date.UTC(2020, 1, 28, 23, 32, 3)],
    ['2020-02-29T01:02:03-0130', Date.UTC(2020, 1, 29, 2, 32, 3)],
    ['0099-01-01', Date.parse('0099-01-01T00:00:00Z')],
    ['202002', undefined],
    ['2020-02-30', undefined],
    ['2021-02-29', undefined],
    ['2020-13-01', undefined],
    ['2020-00-01', undefined],
    ['2020-01-00', undefined],
    ['0000-01-01', undefined],
    ['2020-02-29T24:00', undefined],
    ['2020-02-29T24:00:00Z', undefined],
    ['2020-02-29T01:60', undefined],
    ['2020-02-29T01:02:60', undefined],
    ['2020-02-29T01:02:03+24:00', undefined],
    ['2020-02-29Z', undefined],
    ['2020-02-29t01:02', undefined],
    ['yesterday', undefined],
    ['', undefined],
  ])('follow ISO 8601 for times: %s', async (text, time) => {
    expect(parseIsoTime(text)).toBe(time);
    const status = time === undefined ? 400 : 200;
    expect((await ada.get(`/servers?changes-since=${encodeURIComponent(text)}`)).status).toBe(status);
  });

  describe('addresses', () => {
    const body = (fields: object) => ({
      server: { name: 'a', flavorRef: ids.tiny, imageRef: ids.image, networks: 'none', ...fields },
    });

    it.each([
      ['::babe:220.12.22.2', '::babe:dc0c:1602'],
      ['2001:0DB8::0001', '2001:db8::1'],
      ['::ffff:a00:1', '::ffff:10.0.0.1'],
    ])('may be %s, which is shown as %s', async (given, shown) => {
      const { id } = await ada.boot({ accessIPv6: given });
      const read = async () => (await ada.get(`/servers/${id}`)).body.server.accessIPv6;
      expect(await read()).toBe(shown);
      await ada.put(`/servers/${id}`, { server: { accessIPv6: '::1' } });
      expect((await ada.put(`/servers/${id}`, { server: { accessIPv6: given } })).body.server.accessIPv6).toBe(shown);
      expect(await read()).toBe(shown);
    });

    it.each(['fe80::1%eth0', 'fe80::1%', '::1%25x', '1.2.3.4', ''])('reject %j as IPv6', async (accessIPv6) => {
      expect((await ada.post('/servers', body({ accessIPv6 }))).status).toBe(400);
    });

    it('reject a zone id where both versions are accepted', async () => {
      const { id } = await ada.boot();
      const old = api.as('ada:p1', '2.1');
      expect((await old.act(id, 'removeFixedIp', { address: 'fe80::1%eth0' })).status).toBe(400);
    });
  });

  it('include only a name for security group actions', async () => {
    const { id } = await ada.boot({ networks: [{ uuid: ids.network }] });
    await api.engine.embedded.networks.createSecurityGroup(owner, { name: 'web', description: '' });
    for (const action of ['addSecurityGroup', 'removeSecurityGroup']) {
      expect((await ada.act(id, action, { name: 'web', other: 1 })).status).toBe(400);
      expect((await ada.act(id, action, { name: 'web' })).status).toBe(202);
    }
  });

  it('include an empty body, null and unknown keys for POST /os-floating-ips', async () => {
    const old = api.as('ada:p1', '2.1');
    const { name: pool } = (await old.get('/os-floating-ip-pools')).body.floating_ip_pools[0];
    for (const body of [undefined, null, {}, { pool: null }, { pool, other: 1 }]) {
      const responded = await old.post('/os-floating-ips', body);
      expect([responded.status, responded.body.floating_ip?.pool]).toEqual([200, pool]);
    }
    for (const body of [[], 'a', 1, { pool: 1 }]) expect((await old.post('/os-floating-ips', body)).status).toBe(400);
  });

  it('include an empty name as a filter of flavors, which matches all', async () => {
    const names = async (query: string) => (await api.as('ada:p1', '2.102').get(`/flavors${query}`)).body.flavors;
    expect(await names('?name=')).toEqual(await names(''));
    expect((await names('?name=')).length).toBeGreaterThan(1);
  });

  it('security groups omit rules whose remote group was deleted', async () => {
    const { networks } = api.engine.embedded;
    const [web, removed] = [
      await networks.createSecurityGroup(owner, { name: randomUUID(), description: '' }),
      await networks.createSecurityGroup(owner, { name: randomUUID(), description: '' }),
    ];
    const rule = { securityGroupId: web.id, direction: 'ingress', protocol: 'tcp', portMin: 80, portMax: 80 } as const;
    await networks.createSecurityGroupRule(owner, { ...rule, remoteGroupId: removed.id });
    const stored = await networks.createSecurityGroupRule(owner, { ...rule, remoteCidr: '192.0.2.0/24' });
    const { id } = await ada.boot({ networks: [{ uuid: ids.network }] });
    await ada.act(id, 'addSecurityGroup', { name: web.name });
    const shown = async () => {
      const ofServer = (await ada.get(`/servers/${id}/os-security-groups`)).body.security_groups;
      const ofProject = (await api.as('ada:p1', '2.1').get(`/os-security-groups/${web.id}`)).body.security_group;
      const rules = [ofServer.find((group: any) => group.id === web.id), ofProject].map((group) => group.rules);
      return rules.map((list) => list.map((one: any) => [one.id, one.group]));
    };
    for (const list of await shown())
      expect(list).toContainEqual([expect.any(String), { name: removed.name, tenant_id: 'p1' }]);
    // The network service may delete a group at any time, by another client or after its last use.
    const { listSecurityGroups } = networks;
    networks.listSecurityGroups = async (caller, query) =>
      (await listSecurityGroups.call(networks, caller, query)).filter((group) => group.id !== removed.id);
    try {
      for (const list of await shown()) expect(list).toEqual([[stored.id, {}]]);
    } finally {
      networks.listSecurityGroups = listSecurityGroups;
    }
  });
});
