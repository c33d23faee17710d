import { DatabaseUnavailable } from '@apistrata/compute-engine';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Api, apiUnderTest, type Client, ids } from '../api-under-test.js';

describe('networking until 2.35', () => {
  let api: Api;
  let ada: Client;
  let bob: Client;
  let admin: Client;
  let server: any;
  beforeAll(async () => {
    api = await apiUnderTest();
    ada = api.as('ada:p1', '2.35');
    bob = api.as('bob:p2', '2.35');
    admin = api.as('admin:p9', '2.35');
    server = await ada.boot({ networks: [{ uuid: ids.network }] });
  });
  afterAll(() => api.close());

  it('shows networks by name only, with deployment fields for administrators', async () => {
    const { networks } = (await ada.get('/os-networks')).body;
    const plain = ['broadcast', 'cidr', 'cidr_v6', 'dns1', 'dns2', 'gateway', 'gateway_v6', 'id', 'label', 'netmask'];
    expect(Object.keys(networks[0]).sort()).toEqual([...plain, 'netmask_v6']);
    expect(networks.find(({ id }: any) => id === ids.network)).toMatchObject({ label: 'private', cidr: null });
    const { network } = (await ada.get(`/os-networks/${ids.network}`)).body;
    expect(networks).toContainEqual(network);
    const seen = (await admin.get(`/os-networks/${ids.network}`)).body.network;
    expect(Object.keys(seen)).toHaveLength(32);
    expect(seen).toMatchObject({ ...network, vlan: null, mtu: expect.any(Number), project_id: expect.any(String) });
    expect((await ada.get('/os-networks/nothing')).status).toBe(404);
    const tenant = (await ada.get('/os-tenant-networks')).body.networks;
    expect(tenant).toContainEqual({ id: ids.network, label: 'private', cidr: 'None' });
    const one = await ada.get(`/os-tenant-networks/${ids.network}`);
    expect(one.body).toEqual({ network: { id: ids.network, label: 'private', cidr: 'None' } });
    expect((await ada.get('/os-tenant-networks/nothing')).status).toBe(404);
  });

  it('allocates, associates and releases floating addresses', async () => {
    expect((await ada.get('/os-floating-ip-pools')).body).toEqual({ floating_ip_pools: [{ name: 'public' }] });
    expect((await ada.post('/os-floating-ips', { pool: 'nothing' })).status).toBe(404);
    expect((await ada.post('/os-floating-ips', { pool: 7 })).status).toBe(400);
    const created = await ada.post('/os-floating-ips', { pool: null });
    expect(created.status).toBe(200);
    const { floating_ip: floating } = created.body;
    expect(floating).toEqual({
      id: expect.any(String),
      ip: expect.stringMatching(/^203\.0\.113\./),
      pool: 'public',
      fixed_ip: null,
      instance_id: null,
    });
    expect((await ada.act(server.id, 'addFloatingIp', { address: floating.ip })).status).toBe(202);
    const associated = (await ada.get(`/os-floating-ips/${floating.id}`)).body.floating_ip;
    const [{ addr }] = server.addresses.private;
    expect(associated).toEqual({ ...floating, fixed_ip: addr, instance_id: server.id });
    expect((await ada.get('/os-floating-ips')).body).toEqual({ floating_ips: [associated] });

    const info = { address: associated.ip, fixed_ip: addr, instance_uuid: server.id, interface: null, pool: 'public' };
    const bulk = { floating_ip_info: [{ ...info, project_id: 'p1' }] };
    expect((await admin.get('/os-floating-ips-bulk')).body).toEqual(bulk);
    expect((await bob.get('/os-floating-ips-bulk')).body).toEqual({ floating_ip_info: [] });
    const { 'OS-EXT-SRV-ATTR:host': host } = (await admin.get(`/servers/${server.id}`)).body.server;
    expect((await admin.get(`/os-floating-ips-bulk/${host}`)).body).toEqual(bulk);
    expect((await admin.get('/os-floating-ips-bulk/elsewhere')).status).toBe(404);
    // An unavailable database does not mean that the address is unknown.
    const requested = vi.spyOn(api.engine.servers, 'get').mockRejectedValueOnce(new DatabaseUnavailable('unreachable'));
    expect((await admin.get(`/os-floating-ips-bulk/${host}`)).status).toBe(503);
    requested.mockRestore();
    expect(api.errors.splice(0)).toMatchObject([{ code: 'DATABASE_UNAVAILABLE' }]);
    expect((await ada.get(`/os-floating-ips-bulk/${host}`)).status).toBe(404);

    expect((await bob.get(`/os-floating-ips/${floating.id}`)).status).toBe(404);
    expect((await bob.delete(`/os-floating-ips/${floating.id}`)).status).toBe(404);
    expect((await ada.get('/os-floating-ips/nothing')).status).toBe(404);
    expect((await ada.delete(`/os-floating-ips/${floating.id}`)).status).toBe(202);
    expect((await ada.get('/os-floating-ips')).body).toEqual({ floating_ips: [] });
    expect((await bob.get('/os-floating-ips')).body).toEqual({ floating_ips: [] });
  });

  it('has no DNS names of floating addresses', async () => {
    expect((await ada.get('/os-floating-ip-dns')).body).toEqual({ domain_entries: [] });
    expect((await ada.get('/os-floating-ip-dns/example.org/entries/web')).body.itemNotFound.code).toBe(404);
    expect((await ada.put('/os-floating-ip-dns/example.org', {})).status).toBe(410);
  });

  it('shows fixed addresses, with `reserved` since 2.4', async () => {
    const [{ addr }] = server.addresses.private;
    const shown = { address: addr, cidr: null, host: null, hostname: 'web' };
    expect((await api.as('ada:p1', '2.3').get(`/os-fixed-ips/${addr}`)).body).toEqual({ fixed_ip: shown });
    const newer = { fixed_ip: { ...shown, reserved: false } };
    expect((await api.as('ada:p1', '2.4').get(`/os-fixed-ips/${addr}`)).body).toEqual(newer);
    expect((await admin.get(`/os-fixed-ips/${addr}`)).body.fixed_ip.host).toMatch(/^host/);
    expect((await bob.get(`/os-fixed-ips/${addr}`)).status).toBe(404);
    expect((await ada.get('/os-fixed-ips/10.9.9.9')).status).toBe(404);
    expect((await ada.get('/os-fixed-ips/nonsense')).status).toBe(400);
    expect((await ada.post(`/os-fixed-ips/${addr}/action`, { reserve: null })).status).toBe(410);
  });

  describe('security groups', () => {
    const create = async (client: Client, name: string) =>
      (await client.post('/os-security-groups', { security_group: { name, description: 'd', more: 1 } })).body
        .security_group;

    it('are created, listed, changed and deleted', async () => {
      const group = await create(ada, 'web');
      expect(group).toEqual({ id: expect.any(String), name: 'web', description: 'd', tenant_id: 'p1', rules: [] });
      const { security_groups: groups } = (await ada.get('/os-security-groups')).body;
      expect(groups.map(({ name }: any) => name)).toEqual(['default', 'web']);
      expect(groups[0].rules[0].group).toEqual({ name: 'default', tenant_id: 'p1' });
      expect(groups[0].rules[0].ip_range).toEqual({});
      expect((await ada.get(`/os-security-groups/${group.id}`)).body.security_group).toEqual(group);
      const change = { security_group: { name: 'www', description: '' } };
      const changed = (await ada.put(`/os-security-groups/${group.id}`, change)).body.security_group;
      expect(changed).toEqual({ ...group, name: 'www', description: '' });
      expect((await ada.get('/os-security-groups?limit=1&offset=1')).body.security_groups).toEqual([changed]);
      expect((await ada.get('/os-security-groups?limit=0')).body.security_groups).toHaveLength(2);
      expect((await ada.get('/os-security-groups?limit=-1')).status).toBe(400);
      expect((await bob.get('/os-security-groups?all_tenants=1')).body.security_groups).toHaveLength(1);
      const everybodys = (await admin.get('/os-security-groups?all_tenants=1')).body.security_groups;
      expect(new Set(everybodys.map((other: any) => other.tenant_id))).toEqual(new Set(['p1', 'p2', 'p9']));
      for (const act of ['get', 'delete'] as const)
        expect((await bob[act](`/os-security-groups/${group.id}`)).status).toBe(404);
      expect((await bob.put(`/os-security-groups/${group.id}`, change)).status).toBe(404);
      expect((await ada.delete(`/os-security-groups/${group.id}`)).status).toBe(202);
      expect((await ada.delete(`/os-security-groups/${group.id}`)).status).toBe(404);
    });

    it('are rejected if they are inconsistent', async () => {
      const post = async (security_group: unknown) =>
        (await ada.post('/os-security-groups', { security_group })).status;
      expect(await post({ name: 'x' })).toBe(400);
      expect(await post({ name: 'x'.repeat(256), description: '' })).toBe(400);
      expect(await post({ name: 'default', description: '' })).toBe(400);
      expect(await post({ name: 'a\0', description: '' })).toBe(400);
      expect((await ada.get('/os-security-groups/nonsense')).status).toBe(400);
      expect((await ada.delete('/os-security-groups/nonsense')).status).toBe(400);
      const { security_groups: groups } = (await ada.get('/os-security-groups')).body;
      const used = groups.find(({ name }: any) => name === 'default');
      expect((await ada.delete(`/os-security-groups/${used.id}`)).status).toBe(400);
      const rename = { security_group: { name: 'other', description: '' } };
      expect((await ada.put(`/os-security-groups/${used.id}`, rename)).status).toBe(400);
    });

    it('have rules', async () => {
      const group = await create(ada, 'ruled');
      const other = await create(ada, 'source');
      const add = (rule: object) =>
        ada.post('/os-security-group-rules', { security_group_rule: { parent_group_id: group.id, ...rule } });
      const tcp = { ip_protocol: 'TCP', from_port: 80, to_port: '443' };
      const created = await add({ ...tcp, cidr: '10.0.0.0/8' });
      expect(created.status).toBe(200);
      const rule = created.body.security_group_rule;
      expect(rule).toEqual({
        id: expect.any(String),
        parent_group_id: group.id,
        ip_protocol: 'tcp',
        from_port: 80,
        to_port: 443,
        group: {},
        ip_range: { cidr: '10.0.0.0/8' },
      });
      expect((await add({ ...tcp, cidr: '10.0.0.0/8' })).status).toBe(400);
      const open = (await add({ ip_protocol: 'udp', from_port: 53, to_port: 53 })).body.security_group_rule;
      expect(open.ip_range).toEqual({ cidr: '0.0.0.0/0' });
      const icmp = (await add({ ip_protocol: 'icmp', from_port: -1, to_port: -1 })).body.security_group_rule;
      expect(icmp).toMatchObject({ from_port: -1, to_port: -1 });
      const bySource = (await add({ group_id: other.id })).body.security_group_rule;
      expect(bySource).toMatchObject({ group: { name: 'source', tenant_id: 'p1' }, ip_protocol: null });
      expect(bySource.ip_range).toEqual({});
      const { rules } = (await ada.get(`/os-security-groups/${group.id}`)).body.security_group;
      expect(rules).toEqual([rule, open, icmp, bySource]);
      for (const rejected of [
        {},
        { ip_protocol: 'tcp' },
        { ...tcp, from_port: 0 },
        { ...tcp, to_port: 79 },
        { ...tcp, to_port: 65536 },
        { ...tcp, from_port: 'x' },
        { ...tcp, ip_protocol: 'sctp' },
        { ...tcp, cidr: 'nonsense' },
        { ...tcp, cidr: 7 },
        { ...tcp, parent_group_id: 'nonsense' },
      ])
        expect((await add(rejected)).status).toBe(400);
      const anonymous = '99999999-9999-4999-8999-999999999999';
      expect((await add({ ...tcp, parent_group_id: anonymous })).status).toBe(404);
      expect((await add({ ...tcp, group_id: anonymous })).status).toBe(404);
      const foreign = { security_group_rule: { parent_group_id: group.id, ...tcp } };
      expect((await bob.post('/os-security-group-rules', foreign)).status).toBe(404);
      expect((await bob.delete(`/os-security-group-rules/${rule.id}`)).status).toBe(404);
      expect((await ada.delete('/os-security-group-rules/nonsense')).status).toBe(400);
      expect((await ada.delete(`/os-security-group-rules/${rule.id}`)).status).toBe(202);
      expect((await ada.delete(`/os-security-group-rules/${rule.id}`)).status).toBe(404);
      expect((await ada.delete(`/os-security-groups/${group.id}`)).status).toBe(202);
    });

    it('never cause a 500, for any input', async () => {
      const group = await create(ada, 'random');
      await fc.assert(
        fc.asyncProperty(fc.json(), fc.json(), fc.string({ unit: 'binary' }), async (one, two, text) => {
          const [from_port, to_port] = [JSON.parse(one), JSON.parse(two)];
          const rule = { parent_group_id: group.id, ip_protocol: 'icmp', from_port, to_port, cidr: text };
          const ip_protocol = JSON.parse(two);
          for (const security_group_rule of [rule, { ...rule, ip_protocol }, { ...rule, cidr: from_port }, from_port])
            expect((await ada.post('/os-security-group-rules', { security_group_rule })).status).toBeLessThan(500);
          const security_group = { name: text, description: text };
          expect((await ada.post('/os-security-groups', { security_group })).status).toBeLessThan(500);
          expect((await ada.post('/os-floating-ips', { pool: `x${text}` })).status).toBeLessThan(500);
        }),
        { numRuns: 40 },
      );
      expect(api.errors).toEqual([]);
    });
  });
});
