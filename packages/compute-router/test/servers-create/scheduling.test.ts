import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Api, apiUnderTest, type Client, ids } from '../api-under-test.js';
import { plain } from './cloud.js';

const quotas = { instances: -1, cores: -1, ram: -1, server_groups: -1 };

describe('scheduling of servers', () => {
  let api: Api;
  let ada: Client;
  let admin: Client;

  beforeAll(async () => {
    api = await apiUnderTest({
      router: { maxVersion: '2.104' },
      engine: { settings: { quotas: quotas as never } },
      preset: {
        flavors: [
          { id: ids.tiny, name: 'tiny', vcpus: 1, memoryMb: 512, diskGb: 1 },
          { id: '7', name: 'huge', vcpus: 1, memoryMb: 4000, diskGb: 1 },
          {
            id: '8',
            name: 'ssd',
            vcpus: 1,
            memoryMb: 512,
            diskGb: 1,
            extraSpecs: { 'aggregate_instance_extra_specs:ssd': 'true' },
          },
        ],
        hosts: ['a', 'b', 'c'].map((name, n) => ({
          name,
          zone: n === 2 ? 'west' : 'east',
          hypervisorHostname: `node-${name}`,
          vcpus: 16,
          memoryMb: 4096,
          diskGb: 100,
        })),
        aggregates: [{ name: 'fast', hosts: ['b'], metadata: { ssd: 'true' } }],
        images: [{ id: ids.image, name: 'cirros', visibility: 'public' }],
      },
    });
    ada = api.as('ada:p1', '2.100');
    admin = api.as('admin:p1', '2.100');
  });
  beforeEach(async () => {
    for (const { id } of (await ada.get('/servers')).body.servers) await ada.delete(`/servers/${id}`);
    await api.idle();
  });
  afterAll(async () => {
    expect(api.errors).toEqual([]);
    await api.close();
  });

  async function create(fields: object = {}, hints?: object, client = ada): Promise<any> {
    const body = { server: { ...plain, ...fields }, ...(hints && { 'os:scheduler_hints': hints }) };
    const created = await client.post('/servers', body);
    expect([created.status, created.body]).toEqual([202, expect.anything()]);
    await api.idle();
    return (await admin.get(`/servers/${created.body.server.id}`)).body.server;
  }
  const hostOf = (server: any) => server['OS-EXT-SRV-ATTR:host'];
  const group = async (policy: string, rules?: object): Promise<string> =>
    (await ada.post('/os-server-groups', { server_group: { name: policy, policy, ...(rules && { rules }) } })).body
      .server_group.id;

  it('keeps servers in the requested zone, and pins them to it', async () => {
    for (let n = 0; n < 3; n++) {
      const server = await create({ availability_zone: 'west' });
      expect([hostOf(server), server.pinned_availability_zone]).toEqual(['c', 'west']);
    }
    expect((await create()).pinned_availability_zone).toBeNull();
  });

  it('places a server on the host that an administrator forces, and pins the zone if it matches', async () => {
    const pinned = async (zone: string) => {
      const server = await create({ availability_zone: zone }, undefined, admin);
      return [hostOf(server), server.pinned_availability_zone];
    };
    expect(await pinned('east:a')).toEqual(['a', 'east']);
    expect(await pinned('west:a')).toEqual(['a', null]);
    expect(await pinned('nowhere:b')).toEqual(['b', null]);
    expect(await pinned('east::node-b')).toEqual(['b', 'east']);
    expect(await pinned('east:b:node-b')).toEqual(['b', 'east']);
    for (const zone of ['east:nothing', 'east:a:node-b']) {
      expect((await create({ availability_zone: zone }, undefined, admin)).status).toBe('ERROR');
    }
  });

  it('passes the host that an administrator requests to the scheduler', async () => {
    expect(hostOf(await create({ host: 'c' }, undefined, admin))).toBe('c');
    expect(hostOf(await create({ hypervisor_hostname: 'node-b' }, undefined, admin))).toBe('b');
    const elsewhere = await create({ host: 'c', availability_zone: 'east' }, undefined, admin);
    expect([elsewhere.status, hostOf(elsewhere)]).toEqual(['ERROR', null]);
  });

  it('leaves a server without a suitable host in error, with a fault', async () => {
    const server = await create({ flavorRef: '7', name: 'huge' });
    expect(server.status).toBe('ACTIVE');
    const more = [await create({ flavorRef: '7' }), await create({ flavorRef: '7' }), await create({ flavorRef: '7' })];
    expect(more.map(({ status }) => status)).toEqual(['ACTIVE', 'ACTIVE', 'ERROR']);
    expect(more[2]).toMatchObject({
      fault: { code: 500, message: expect.stringContaining('No valid host was found') },
      'OS-EXT-STS:power_state': 0,
      'OS-EXT-STS:task_state': null,
    });
    expect(hostOf(more[2])).toBeNull();
  });

  it('places servers together or separately according to their hints', async () => {
    const first = await create();
    const same = await create({}, { same_host: first.id });
    expect(hostOf(same)).toBe(hostOf(first));
    const apart = await create({}, { different_host: [first.id] });
    expect(hostOf(apart)).not.toBe(hostOf(first));
    const both = await create({}, { different_host: [first.id, apart.id] });
    expect(new Set([first, apart, both].map(hostOf)).size).toBe(3);
    expect((await create({}, { same_host: first.id, different_host: first.id })).status).toBe('ERROR');
    expect(hostOf(await create({}, { same_host: [first.id, apart.id], different_host: apart.id }))).toBe(hostOf(first));
  });

  it('filters hosts by a query hint', async () => {
    expect(hostOf(await create({}, { query: '["=", "$host", "b"]' }))).toBe('b');
    expect(
      hostOf(await create({}, { query: ['and', ['>=', '$free_ram_mb', 512], ['not', ['in', '$host', 'a', 'b']]] })),
    ).toBe('c');
    for (const query of ['["<", "$free_ram_mb", 1]', 'no json', '["nothing", 1]', '["=", "$constructor", 1]']) {
      expect((await create({}, { query })).status).toBe('ERROR');
    }
  });

  it('finds hosts near an address', async () => {
    expect(hostOf(await create({}, { build_near_host_ip: '192.0.2.2', cidr: '/32' }))).toBe('b');
    expect((await create({}, { build_near_host_ip: '198.51.100.1' })).status).toBe('ERROR');
  });

  it('applies the specs of aggregates', async () => {
    for (let n = 0; n < 2; n++) expect(hostOf(await create({ flavorRef: '8' }))).toBe('b');
  });

  it('keeps the members of an affinity group together', async () => {
    const id = await group('affinity');
    const servers = [await create({}, { group: id }), await create({}, { group: id }), await create({}, { group: id })];
    expect(new Set(servers.map(hostOf)).size).toBe(1);
    expect(servers[0].server_groups).toEqual([id]);
    expect(
      (await create({ availability_zone: hostOf(servers[0]) === 'c' ? 'east' : 'west' }, { group: id })).status,
    ).toBe('ERROR');
  });

  it('keeps the members of an anti-affinity group on separate hosts, even for concurrent requests', async () => {
    const id = await group('anti-affinity');
    await ada.post('/servers', {
      server: { ...plain, name: 'apart', min_count: 4 },
      'os:scheduler_hints': { group: id },
    });
    await api.idle();
    const { servers } = (await admin.get('/servers/detail?name=^apart')).body;
    expect(servers.map((s: any) => s.status).sort()).toEqual(['ACTIVE', 'ACTIVE', 'ACTIVE', 'ERROR']);
    expect(new Set(servers.flatMap((s: any) => hostOf(s) ?? [])).size).toBe(3);
  });

  it('places at most max_server_per_host members of a group on one host', async () => {
    const id = await group('anti-affinity', { max_server_per_host: 2 });
    for (const status of ['ACTIVE', 'ACTIVE', 'ERROR']) {
      expect((await create({ availability_zone: 'west' }, { group: id })).status).toBe(status);
    }
  });

  it('treats the policy of soft groups as a preference', async () => {
    const together = await group('soft-affinity');
    const first = await create({}, { group: together });
    expect(hostOf(await create({}, { group: together }))).toBe(hostOf(first));
    const apart = await group('soft-anti-affinity');
    const hosts: string[] = [];
    for (let n = 0; n < 4; n++) hosts.push(hostOf(await create({}, { group: apart })));
    expect(new Set(hosts).size).toBe(3);
    expect(hosts.every(Boolean)).toBe(true);
  });

  it('accepts one group as a string, and since 2.101 as a list too', async () => {
    const id = await group('affinity');
    const status = async (version: string) =>
      (
        await api
          .as('ada:p1', version)
          .post('/servers', { server: plain, 'OS-SCH-HNT:scheduler_hints': { group: [id] } })
      ).status;
    expect([await status('2.100'), await status('2.101')]).toEqual([400, 202]);
    await api.idle();
    const [server] = (await api.as('ada:p1', '2.101').get('/servers')).body.servers;
    expect((await ada.get(`/servers/${server.id}`)).body.server.server_groups).toEqual([id]);
  });

  it('counts the members of a group against the quota of the user', async () => {
    const small = await apiUnderTest({ engine: { settings: { quotas: { server_group_members: 2 } as never } } });
    const client = small.as('ada:p1', '2.100');
    const { server_group: created } = (
      await client.post('/os-server-groups', { server_group: { name: 'g', policy: 'affinity' } })
    ).body;
    const hints = { 'os:scheduler_hints': { group: created.id } };
    expect((await client.post('/servers', { server: { ...plain, min_count: 3 }, ...hints })).status).toBe(403);
    const responses = await Promise.all(
      Array.from({ length: 5 }, () => client.post('/servers', { server: plain, ...hints })),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([202, 202, 403, 403, 403]);
    expect(responses.find(({ status }) => status === 403)!.body.forbidden.message).toContain('server_group_members');
    await small.close();
  });

  it('hides the groups of other projects', async () => {
    const id = await group('affinity');
    const responded = await api
      .as('bob:p2', '2.100')
      .post('/servers', { server: plain, 'os:scheduler_hints': { group: id } });
    expect([responded.status, responded.body.badRequest.code]).toEqual([400, 400]);
  });
});
