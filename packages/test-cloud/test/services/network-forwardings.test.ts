import { describe, expect, it } from 'vitest';
import { NETWORK } from '../clouds.js';
import { networkUnderTest, PUBLIC } from './network-under-test.js';

describe('port forwardings, rules and helpers', () => {
  it('forward ranges of ports', async () => {
    const { request, make } = await networkUnderTest();
    const floating = await make('floatingips', 'floatingip', { floating_network_id: PUBLIC });
    const port = await make('ports', 'port', { network_id: NETWORK });
    const to = { internal_port_id: port.id, internal_ip_address: port.fixed_ips[0].ip_address, protocol: 'tcp' };
    const path = `floatingips/${floating.id}/port_forwardings`;
    const ranges = { external_port_range: '80:90', internal_port_range: '180:190' };
    expect(await make(path, 'port_forwarding', { ...to, ...ranges })).toMatchObject(ranges);
    const rejected = { status: 400, type: 'BadRequest' };
    for (const wrong of [
      { external_port: 85, internal_port: 1 },
      { external_port_range: '91:93', internal_port_range: '1:2' },
      { external_port_range: '93:91', internal_port: 1 },
      { external_port_range: '91:93', external_port: 91, internal_port: 1 },
      { external_port: 91 },
    ])
      expect(await request('POST', path, { port_forwarding: { ...to, ...wrong } })).toMatchObject(rejected);
    const one = await make(path, 'port_forwarding', { ...to, external_port: 91, internal_port: 22 });
    expect(one).toMatchObject({ external_port: 91, external_port_range: '91:91', internal_port_range: '22:22' });
    expect(await request('DELETE', `floatingips/${floating.id}`)).toMatchObject({
      status: 409,
      type: 'FipInUseByPortForwarding',
    });
    const other = await make('ports', 'port', { network_id: NETWORK });
    const floatingip = { port_id: other.id };
    expect(await request('PUT', `floatingips/${floating.id}`, { floatingip })).toMatchObject({
      status: 409,
      type: 'FipInUseByPortForwarding',
    });
    expect((await request('PUT', `floatingips/${floating.id}`, { floatingip: { description: 'd' } })).status).toBe(200);
    // Port forwardings to a port are deleted with the port.
    await request('DELETE', `ports/${port.id}`);
    expect((await request('GET', path)).body.port_forwardings).toEqual([]);
    expect((await request('DELETE', `floatingips/${floating.id}`)).status).toBe(204);
  });

  it('reject a port that is already forwarded, external or internal', async () => {
    const { request, make } = await networkUnderTest();
    const floating = () => make('floatingips', 'floatingip', { floating_network_id: PUBLIC });
    const [one, two] = [await floating(), await floating()];
    const port = await make('ports', 'port', { network_id: NETWORK });
    const to = { internal_port_id: port.id, internal_ip_address: port.fixed_ips[0].ip_address, protocol: 'tcp' };
    const create = (id: string, fields: object) =>
      request('POST', `floatingips/${id}/port_forwardings`, { port_forwarding: { ...to, ...fields } });
    const created = await create(one.id, { external_port: 80, internal_port: 8080 });
    expect(created.status).toBe(201);
    const collision = (key: string, both: string) => ({
      status: 400,
      type: 'BadRequest',
      body: {
        NeutronError: {
          message: `Bad port_forwarding request: There is a port collision with the ${key}. The following ranges collide: ${both}`,
        },
      },
    });
    expect(await create(one.id, { external_port: 80, internal_port: 81 })).toMatchObject(
      collision('external_port_range', '80:80 and 80:80'),
    );
    expect(await create(two.id, { external_port: 82, internal_port: 8080 })).toMatchObject(
      collision('internal_port_range', '8080:8080 and 8080:8080'),
    );
    expect((await create(two.id, { external_port: 80, internal_port: 8080, protocol: 'udp' })).status).toBe(201);
    const change = (fields: object) =>
      request('PUT', `floatingips/${one.id}/port_forwardings/${created.body.port_forwarding.id}`, {
        port_forwarding: fields,
      });
    expect((await change({ protocol: 'udp' })).status).toBe(400);
    expect((await change({ external_port: 83 })).status).toBe(200);
  });

  it('reject addresses and ports that are already associated', async () => {
    const { request, make } = await networkUnderTest();
    const [bound, free] = [
      await make('ports', 'port', { network_id: NETWORK }),
      await make('ports', 'port', { network_id: NETWORK }),
    ];
    const associated = await make('floatingips', 'floatingip', { floating_network_id: PUBLIC, port_id: bound.id });
    const floating = await make('floatingips', 'floatingip', { floating_network_id: PUBLIC });
    const create = (id: string, port: typeof bound, address = port.fixed_ips[0].ip_address) =>
      request('POST', `floatingips/${id}/port_forwardings`, {
        port_forwarding: {
          internal_port_id: port.id,
          internal_ip_address: address,
          protocol: 'tcp',
          external_port: 80,
          internal_port: 80,
        },
      });
    expect(await create(associated.id, free)).toMatchObject({ status: 409, type: 'FloatingIPPortAlreadyAssociated' });
    expect(await create(floating.id, bound)).toMatchObject({ status: 409, type: 'PortHasBindingFloatingIP' });
    expect(await create(floating.id, free, '10.9.9.9')).toMatchObject({ status: 400, type: 'BadRequest' });
  });

  it.each([
    [
      { protocol: 'tcp', port_range_min: 1, port_range_max: 65_535 },
      { port_range_min: null, port_range_max: null },
    ],
    [{ protocol: 'icmp', ethertype: 'IPv6' }, { protocol: 'ipv6-icmp' }],
    [{ protocol: 1, ethertype: 'IPv6' }, { protocol: '58' }],
    [{ protocol: 'TCP' }, { protocol: 'tcp' }],
  ])('store the rule %j as %j', async (given, stored) => {
    const { make } = await networkUnderTest();
    const group = await make('security-groups', 'security_group', { name: 'g' });
    const fields = { security_group_id: group.id, direction: 'ingress', ...given };
    expect(await make('security-group-rules', 'security_group_rule', fields)).toMatchObject(stored);
  });

  it.each([
    [
      { helper: 'quake', protocol: 'tcp', port: 1 },
      'ConntrackHelperNotAllowed',
      /^Conntrack Helper quake is not allowed/,
    ],
    [{ helper: 'ftp', protocol: 'udp', port: 1 }, 'InvalidProtocolForHelper', /Supported protocols are: tcp$/],
    [{ helper: 'tftp', protocol: 'udp', port: 69 }, 'BadRequest', /duplicate conntrack helper/],
  ])('reject the connection helper %j as %s', async (conntrack_helper, type, message) => {
    const { request, make } = await networkUnderTest();
    const router = await make('routers', 'router', {});
    const path = `routers/${router.id}/conntrack_helpers`;
    await make(path, 'conntrack_helper', { helper: 'tftp', protocol: 'udp', port: 69 });
    const rejected = await request('POST', path, { conntrack_helper });
    expect(rejected).toMatchObject({ status: 400, type });
    expect(rejected.body.NeutronError.message).toMatch(message);
  });

  it('accept helpers for existing routers only', async () => {
    const { request } = await networkUnderTest();
    const rejected = await request('POST', 'routers/missing/conntrack_helpers', {
      conntrack_helper: { helper: 'tftp', protocol: 'udp', port: 69 },
    });
    expect(rejected).toMatchObject({ status: 404, type: 'RouterNotFound' });
  });
});
