import { describe, expect, it } from 'vitest';
import { clientOf, cloudUnderTest, NETWORK } from '../clouds.js';

type SendRequest = ReturnType<typeof clientOf>;
const names = (items: readonly { readonly name: string }[]) => items.map(({ name }) => name);

async function tagged(request: SendRequest) {
  for (const [name, tags] of [
    ['red', ['red', 'round']],
    ['blue', ['blue', 'round']],
    ['bare', []],
  ] as const) {
    const { body } = await request('POST', '/network/v2.0/networks', { network: { name } });
    if (tags.length > 0) await request('PUT', `/network/v2.0/networks/${body.network.id}/tags`, { tags });
  }
}

describe('lists of the network service', () => {
  it.each([
    ['tags=round', ['red', 'blue']],
    ['tags=red,round', ['red']],
    ['tags-any=red,blue', ['red', 'blue']],
    ['not-tags=red,round', ['private', 'public', 'blue', 'bare']],
    ['not-tags-any=red,blue', ['private', 'public', 'bare']],
    ['tags=round&not-tags=blue', ['red']],
  ])('are filtered by %s', async (query, expected) => {
    const request = clientOf(await cloudUnderTest());
    await tagged(request);
    expect(names((await request('GET', `/network/v2.0/networks?${query}`)).body.networks)).toEqual(expected);
  });

  it.each([
    ['colour=red', "['colour'] is invalid attribute for filtering"],
    ['sort_key=name', 'The number of sort_keys and sort_dirs must be same'],
    ['sort_key=colour&sort_dir=asc', "['colour'] is invalid attribute for sort_keys"],
    ['limit=many', "Limit must be an integer 0 or greater and not 'many'"],
  ])('reject %s instead of showing everything', async (query, message) => {
    const { status, body } = await clientOf(await cloudUnderTest())('GET', `/network/v2.0/networks?${query}`);
    expect(status).toBe(400);
    expect(body.NeutronError.message).toContain(message);
  });

  it('are paged, forwards and backwards, with selected fields', async () => {
    const request = clientOf(await cloudUnderTest());
    for (const name of ['a', 'b', 'c', 'd', 'e'])
      await request('POST', '/network/v2.0/security-groups', { security_group: { name, description: 'mine' } });
    const list = '/network/v2.0/security-groups?description=mine&sort_key=name&sort_dir=asc&fields=id&fields=name';
    const first = (await request('GET', `${list}&limit=2`)).body;
    expect(first.security_groups.map(Object.keys)).toEqual([
      ['id', 'name'],
      ['id', 'name'],
    ]);
    const link = (links: { rel: string; href: string }[], rel: string) =>
      new URL(links.find((l) => l.rel === rel)!.href);
    const next = link(first.security_groups_links, 'next');
    const second = (await request('GET', next.pathname + next.search)).body;
    expect(names(second.security_groups)).toEqual(['c', 'd']);
    const back = link(second.security_groups_links, 'previous');
    expect(back.searchParams.get('page_reverse')).toBe('True');
    expect(names((await request('GET', back.pathname + back.search)).body.security_groups)).toEqual(['a', 'b']);
  });

  it('find ports by any of their addresses', async () => {
    const request = clientOf(await cloudUnderTest());
    for (const ip_address of ['10.0.7.1', '10.0.8.1'])
      await request('POST', '/network/v2.0/ports', {
        port: { network_id: NETWORK, name: ip_address, fixed_ips: [{ ip_address }] },
      });
    const found = async (query: string) => names((await request('GET', `/network/v2.0/ports?${query}`)).body.ports);
    expect(await found('fixed_ips=ip_address=10.0.7.1')).toEqual(['10.0.7.1']);
    expect(await found('fixed_ips=ip_address_substr=.8.')).toEqual(['10.0.8.1']);
    expect(await found('fixed_ips=ip_address=10.0.7.1&fixed_ips=ip_address=10.0.8.1')).toHaveLength(2);
    expect(await found('fixed_ips=ip_address=10.0.7.1&fixed_ips=subnet_id=elsewhere')).toEqual([]);
  });
});

describe('resources of the network service', () => {
  it.each([
    ['networks', { network: { name: 'x', colour: 'red' } }, "Unrecognized attribute(s) 'colour'"],
    ['networks', { network: { status: 'DOWN' } }, "Attribute 'status' not allowed in POST"],
    ['subnets', { subnet: { cidr: '10.9.0.0/24' } }, "Required attribute 'network_id' not specified"],
    ['ports', { port: { network_id: NETWORK, mac_address: 'nonsense' } }, 'Invalid input for mac_address'],
    ['networks', {}, "Unable to find 'network' in request body"],
  ])('reject unsupported settings: %s %j', async (path, body, message) => {
    const responded = await clientOf(await cloudUnderTest())('POST', `/network/v2.0/${path}`, body);
    expect(responded.status).toBe(400);
    expect(responded.body.NeutronError).toMatchObject({
      type: 'HTTPBadRequest',
      message: expect.stringContaining(message),
    });
  });

  it('reject changes with an outdated revision', async () => {
    const request = clientOf(await cloudUnderTest());
    const kinds: [string, string, object][] = [
      ['networks', 'network', {}],
      ['security-groups', 'security_group', { name: 'g' }],
      ['routers', 'router', {}],
      ['address-groups', 'address_group', {}],
    ];
    for (const [path, one, given] of kinds) {
      const created = (await request('POST', `/network/v2.0/${path}`, { [one]: given })).body[one];
      const each = `/network/v2.0/${path}/${created.id}`;
      const change = (revision: number, name: string) =>
        request('PUT', each, { [one]: { name } }, { 'If-Match': `revision_number=${revision}` });
      const changed = await change(created.revision_number, 'first');
      expect(changed.body[one]).toMatchObject({ name: 'first', revision_number: created.revision_number + 1 });
      const stale = await change(created.revision_number, 'second');
      expect(stale).toMatchObject({ status: 412, body: { NeutronError: { type: 'RevisionNumberConstraintFailed' } } });
      expect((await request('GET', each)).body[one].name).toBe('first');
      const remove = (revision: number) =>
        request('DELETE', each, undefined, { 'If-Match': `revision_number=${revision}` });
      expect((await remove(created.revision_number)).status).toBe(412);
      expect((await remove(created.revision_number + 1)).status).toBe(204);
    }
  });

  it('are created in batches, all or none', async () => {
    const request = clientOf(await cloudUnderTest());
    const group = (await request('POST', '/network/v2.0/security-groups', { security_group: { name: 'web' } })).body
      .security_group;
    const rule = (port: number) => ({
      security_group_id: group.id,
      direction: 'ingress',
      protocol: 'tcp',
      port_range_min: port,
      port_range_max: port,
    });
    const make = (rules: object[]) =>
      request('POST', '/network/v2.0/security-group-rules', { security_group_rules: rules });
    const ours = async () =>
      (await request('GET', `/network/v2.0/security-group-rules?security_group_id=${group.id}&direction=ingress`)).body
        .security_group_rules;
    expect((await make([rule(80), rule(443)])).body.security_group_rules).toHaveLength(2);
    expect((await make([rule(22), rule(80)])).status).toBe(409);
    expect(await ours()).toHaveLength(2);
    const networks = await request('POST', '/network/v2.0/networks', { networks: [{ name: 'one' }, { name: 'two' }] });
    expect(names(networks.body.networks)).toEqual(['one', 'two']);
    expect(
      (await request('POST', '/network/v2.0/networks', { networks: [{ name: 'three' }, { mtu: 'x' }] })).status,
    ).toBe(400);
    expect((await request('GET', '/network/v2.0/networks?name=three')).body.networks).toEqual([]);
  });

  it('store all settings of ports', async () => {
    const cloud = await cloudUnderTest();
    const request = clientOf(cloud);
    const notified = {
      extra_dhcp_opts: [{ opt_name: 'mtu', opt_value: '1400', ip_version: 4 }],
      dns_name: 'front',
      allowed_address_pairs: [{ ip_address: '10.0.0.99', mac_address: 'fa:16:3e:00:00:99' }],
      'binding:host_id': 'host1',
      'binding:profile': { a: 1 },
      'binding:vnic_type': 'direct',
    };
    const { port } = (await request('POST', '/network/v2.0/ports', { port: { network_id: NETWORK, ...notified } }))
      .body;
    expect(port).toMatchObject(notified);
    const changed = {
      mac_address: 'fa:16:3e:11:22:33',
      dns_name: 'back',
      extra_dhcp_opts: [{ opt_name: 'mtu', opt_value: null }],
    };
    const path = `/network/v2.0/ports/${port.id}`;
    expect((await request('PUT', path, { port: changed })).status).toBe(200);
    expect((await request('GET', path)).body.port).toMatchObject({ ...changed, extra_dhcp_opts: [] });
    const member = clientOf(cloud, cloud.token('demo', 'demo'));
    const own = (await member('POST', '/network/v2.0/ports', { port: { network_id: NETWORK } })).body.port;
    expect(own).not.toHaveProperty('binding:host_id');
    const forged = await member('PUT', `/network/v2.0/ports/${own.id}`, { port: { mac_address: 'fa:16:3e:11:22:44' } });
    expect(forged).toMatchObject({ status: 403, body: { NeutronError: { type: 'PolicyNotAuthorized' } } });
  });

  it('let only administrators delete a default group, and keep the host bits of a prefix', async () => {
    const cloud = await cloudUnderTest();
    const admin = clientOf(cloud);
    const member = clientOf(cloud, cloud.token('demo', 'demo'));
    const [group] = (await member('GET', '/network/v2.0/security-groups?name=default')).body.security_groups;
    const rule = { security_group_id: group.id, direction: 'ingress', remote_ip_prefix: '10.0.0.5/24' };
    const created = await member('POST', '/network/v2.0/security-group-rules', { security_group_rule: rule });
    expect(created.body.security_group_rule).toMatchObject({
      remote_ip_prefix: '10.0.0.5/24',
      normalized_cidr: '10.0.0.0/24',
    });
    expect((await member('DELETE', `/network/v2.0/security-groups/${group.id}`)).status).toBe(409);
    expect((await admin('DELETE', `/network/v2.0/security-groups/${group.id}`)).status).toBe(204);
  });

  it('return the project of the caller for quotas and topologies, even at paths with repeated slashes', async () => {
    const cloud = await cloudUnderTest();
    const request = clientOf(cloud);
    const project = (await request('GET', '/identity//v3/projects?name=demo')).body.projects[0].id;
    expect((await request('GET', '//network/v2.0//quotas/tenant')).body.tenant.tenant_id).toBe(project);
    expect(
      (await request('GET', '/network/v2.0/auto-allocated-topology/null')).body.auto_allocated_topology.tenant_id,
    ).toBe(project);
  });
});
