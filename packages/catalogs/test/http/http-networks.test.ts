import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Caller } from '../../src/caller/caller.js';
import type { NetworkCatalog } from '../../src/network/network-catalog.js';
import {
  job,
  NET,
  type NetworksOverHttp,
  networksOverHttp,
  newPortRequest,
  OTHER,
  OUTSIDE,
} from './networks-over-http.js';

const otherCaller: Caller = { userId: 'bob', projectId: 'p-bob', roles: ['member'] };

describe('networks over HTTP', () => {
  let cloud: NetworksOverHttp;
  let service: NetworksOverHttp['service'];
  let networks: NetworkCatalog;
  let ada: Caller;
  beforeAll(async () => {
    cloud = await networksOverHttp();
    ({ service, networks, ada } = cloud);
  });
  afterAll(() => cloud.close());
  afterEach(() => {
    service.things.ports!.clear();
    service.things.floatingips!.clear();
  });

  it('creates and binds a port for a server, with names and addresses', async () => {
    const requested = newPortRequest({ addresses: ['10.0.0.9'], securityGroups: ['default'] });
    const [port] = await networks.createPorts(ada, [requested]);
    expect(port).toMatchObject({
      networkId: NET,
      networkName: 'private',
      projectId: 'p-ada',
      deviceId: requested.deviceId,
      deviceOwner: 'compute:nova',
      hostId: 'host1',
      fixedIps: [{ address: '10.0.0.9', version: 4, subnetId: 'sub1', floating: [] }],
      securityGroups: [{ id: 'default-id', name: 'default' }],
    });
    expect(await networks.listPorts(ada, { deviceIds: [requested.deviceId] })).toEqual([port]);
  });

  it('returns the existing port for a repeated creation', async () => {
    const requested = newPortRequest();
    const [first] = await networks.createPorts(job, [requested]);
    const [second] = await networks.createPorts(job, [requested]);
    expect(second!.id).toBe(first!.id);
    expect(service.things.ports!.size).toBe(1);
  });

  it('leaves no port behind when one of several cannot be created', async () => {
    const deviceId = randomUUID();
    const requests = [newPortRequest({ deviceId }), newPortRequest({ deviceId, addresses: ['192.0.2.1'] })];
    await expect(networks.createPorts(job, requests)).rejects.toMatchObject({
      code: 'ADDRESS_NOT_IN_SUBNET',
      status: 400,
    });
    expect(service.things.ports!.size).toBe(0);
  });

  it('leaves no port behind if its creation succeeded but the response was lost', async () => {
    service.fail('POST', /ports/, 'lose');
    await expect(networks.createPorts(job, [newPortRequest()])).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(service.things.ports!.size).toBe(0);
  });

  it('distinguishes an address in use, an unknown network and a network without addresses', async () => {
    await networks.createPorts(job, [newPortRequest({ addresses: ['10.0.0.7'] })]);
    expect(await networks.listPorts(job, { address: '10.0.0.7' })).toHaveLength(1);
    expect(await networks.listPorts(job, { address: '10.0.0.8' })).toEqual([]);
    const again = networks.createPorts(job, [newPortRequest({ addresses: ['10.0.0.7'] })]);
    await expect(again).rejects.toMatchObject({ code: 'ADDRESS_IN_USE', status: 409 });
    await expect(networks.checkAddresses(job, NET, ['10.0.0.7'])).rejects.toMatchObject({ code: 'ADDRESS_IN_USE' });
    await expect(networks.checkAddresses(job, NET, ['10.9.0.7'])).rejects.toMatchObject({
      code: 'ADDRESS_NOT_IN_SUBNET',
    });
    await networks.checkAddresses(job, NET, ['10.0.0.8']);
    await expect(networks.checkAddresses(job, OUTSIDE)).rejects.toMatchObject({ code: 'NETWORK_WITHOUT_SUBNET' });
    await expect(networks.createPorts(job, [newPortRequest({ networkId: OTHER })])).rejects.toMatchObject({
      code: 'NETWORK_NOT_FOUND',
    });
    service.things.subnets!.get('sub1')!.size = 1;
    await networks.createPorts(job, [newPortRequest()]);
    await expect(networks.createPorts(job, [newPortRequest()])).rejects.toMatchObject({ code: 'NO_FREE_ADDRESS' });
    service.things.subnets!.get('sub1')!.size = 50;
  });

  it('binds, moves and releases ports; those created for the server are deleted, the others remain', async () => {
    const deviceId = randomUUID();
    const [own] = await networks.createPorts(job, [newPortRequest({ deviceId })]);
    const [spare] = await networks.createPorts(job, [newPortRequest({ deviceId: '', hostId: '' })]);
    const binding = { deviceId, deviceOwner: 'compute:nova', hostId: 'host1' };
    expect(await networks.bindPort(job, spare!.id, binding)).toMatchObject(binding);
    await expect(networks.bindPort(job, spare!.id, { ...binding, deviceId: 'x' })).rejects.toMatchObject({
      code: 'PORT_IN_USE',
    });
    await networks.movePorts(job, deviceId, 'host2');
    expect((await networks.listPorts(job, { deviceIds: [deviceId] })).map((port) => port.hostId)).toEqual([
      'host2',
      'host2',
    ]);
    const released = { owned: [own!.id, 'gone'], bound: [spare!.id] };
    await networks.releasePorts(job, deviceId, released);
    await networks.releasePorts(job, deviceId, released);
    await expect(networks.getPort(job, own!.id)).rejects.toMatchObject({ code: 'PORT_NOT_FOUND' });
    expect(await networks.getPort(job, spare!.id)).toMatchObject({ deviceId: '', deviceOwner: '', hostId: '' });
  });

  it('releases all other ports when one cannot be released', async () => {
    const deviceId = randomUUID();
    const created = await networks.createPorts(job, [newPortRequest({ deviceId }), newPortRequest({ deviceId })]);
    const released = { owned: created.map((port) => port.id), bound: [] };
    service.fail('DELETE', new RegExp(created[0]!.id), { status: 503 }, 3);
    await expect(networks.releasePorts(job, deviceId, released)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect([...service.things.ports!.keys()]).toEqual([created[0]!.id]);
    await networks.releasePorts(job, deviceId, released);
    expect(service.things.ports!.size).toBe(0);
  });

  it('lists the ports of many servers', async () => {
    const created = [];
    for (let i = 0; i < 7; i++) created.push(...(await networks.createPorts(job, [newPortRequest()])));
    const deviceIds = created.map((port) => port.deviceId);
    const listed = await networks.listPorts(job, { deviceIds });
    expect(listed.map((port) => port.id)).toEqual(created.map((port) => port.id));
    expect(await networks.listPorts(otherCaller, { deviceIds })).toEqual([]);
    expect(await networks.listPorts(job, { deviceIds: [] })).toEqual([]);
  });

  it('adds and removes addresses', async () => {
    const [port] = await networks.createPorts(job, [newPortRequest()]);
    const more = await networks.addFixedIp(job, port!.deviceId, NET);
    expect(more.fixedIps).toHaveLength(2);
    const less = await networks.removeFixedIp(job, port!.deviceId, more.fixedIps[0]!.address);
    expect(less.fixedIps).toEqual([more.fixedIps[1]]);
    await expect(networks.removeFixedIp(job, port!.deviceId, '10.0.0.250')).rejects.toMatchObject({
      code: 'ADDRESS_NOT_FOUND',
    });
  });

  it('stores groups and rules, and assigns them to servers', async () => {
    const [port] = await networks.createPorts(job, [newPortRequest()]);
    const web = await networks.createSecurityGroup(job, { name: 'web' });
    expect(web).toMatchObject({ name: 'web', projectId: 'p-ada', rules: [] });
    const names = async () => (await networks.getPort(job, port!.id)).securityGroups.map((group) => group.name);
    await networks.addSecurityGroup(job, port!.deviceId, 'web');
    expect(await names()).toEqual(['default', 'web']);
    await networks.removeSecurityGroup(job, port!.deviceId, web.id);
    expect(await names()).toEqual(['default']);
    await expect(networks.removeSecurityGroup(job, port!.deviceId, 'web')).rejects.toMatchObject({
      code: 'SECURITY_GROUP_NOT_ASSOCIATED',
    });
    const rule = await networks.createSecurityGroupRule(job, {
      securityGroupId: web.id,
      direction: 'ingress',
      protocol: 'icmp',
    });
    expect(rule).toMatchObject({ securityGroupId: web.id, protocol: 'icmp', ethertype: 'IPv4' });
    await networks.deleteSecurityGroupRule(job, rule.id);
    await networks.createSecurityGroup(job, { name: 'web' });
    await expect(networks.resolveSecurityGroups(job, ['web'])).rejects.toMatchObject({
      code: 'SECURITY_GROUP_AMBIGUOUS',
    });
    expect(await networks.resolveSecurityGroups(job, [web.id, 'default'])).toEqual([
      { id: web.id, name: 'web' },
      { id: 'default-id', name: 'default' },
    ]);
    await expect(networks.resolveSecurityGroups(otherCaller, [web.id])).rejects.toMatchObject({
      code: 'SECURITY_GROUP_NOT_FOUND',
    });
    await expect(networks.deleteSecurityGroup(otherCaller, web.id)).rejects.toMatchObject({
      code: 'SECURITY_GROUP_NOT_FOUND',
    });
    service.fail('DELETE', /security-groups/, {
      status: 409,
      body: { NeutronError: { type: 'SecurityGroupInUse', message: 'in use' } },
    });
    await expect(networks.deleteSecurityGroup(job, web.id)).rejects.toMatchObject({ code: 'SECURITY_GROUP_IN_USE' });
    await networks.deleteSecurityGroup(job, web.id);
  });

  it('associates floating IPs with servers and shows them on their ports', async () => {
    const [port] = await networks.createPorts(job, [newPortRequest()]);
    expect((await networks.listFloatingIpPools(job)).map((pool) => pool.name)).toEqual(['public']);
    const floating = await networks.allocateFloatingIp(job, 'public');
    expect(floating).toMatchObject({ pool: 'public', projectId: 'p-ada', portId: null, deviceId: null });
    const associated = await networks.associateFloatingIp(job, floating.id, { portId: port!.id });
    expect(associated).toMatchObject({
      portId: port!.id,
      deviceId: port!.deviceId,
      fixedAddress: port!.fixedIps[0]!.address,
    });
    expect((await networks.getPort(job, port!.id)).fixedIps[0]!.floating).toEqual([floating.address]);
    expect(await networks.listFloatingIps(job, { address: floating.address })).toEqual([associated]);
    expect(await networks.disassociateFloatingIp(job, floating.id)).toMatchObject({ portId: null, deviceId: null });
    await expect(networks.releaseFloatingIp(otherCaller, floating.id)).rejects.toMatchObject({
      code: 'FLOATING_IP_NOT_FOUND',
    });
    await networks.releaseFloatingIp(job, floating.id);
    await expect(networks.getFloatingIp(job, floating.id)).rejects.toMatchObject({ code: 'FLOATING_IP_NOT_FOUND' });
    await expect(networks.allocateFloatingIp(job, 'nowhere')).rejects.toMatchObject({
      code: 'FLOATING_IP_POOL_NOT_FOUND',
    });
  });

  it('allocates floating IPs from the default pool, or from the only one', async () => {
    const pools = service.things.networks!;
    expect(await networks.allocateFloatingIp(job)).toMatchObject({ pool: 'public' });
    const second = { id: randomUUID(), name: 'second', tenant_id: 'p-root', 'router:external': true };
    pools.set(second.id, second);
    const code = 'FLOATING_IP_POOL_NOT_FOUND';
    await expect(networks.allocateFloatingIp(job)).rejects.toMatchObject({ code });
    pools.set(second.id, { ...second, is_default: true });
    expect(await networks.allocateFloatingIp(job)).toMatchObject({ pool: 'second' });
    pools.delete(second.id);
  });

  it('returns the networks for a server that specifies none', async () => {
    expect((await networks.availableNetworks(job)).map((network) => network.id)).toEqual([NET]);
    expect(await networks.autoNetwork(job, { dryRun: true })).toBeNull();
    expect(await networks.autoNetwork(job)).toMatchObject({ id: NET });
    expect((await networks.listNetworks(otherCaller)).map((network) => network.name)).toEqual(['other', 'public']);
  });
  it('reports an exhausted quota of ports', async () => {
    service.fail('POST', /ports/, {
      status: 409,
      body: { NeutronError: { type: 'OverQuota', message: 'Quota exceeded' } },
    });
    await expect(networks.createPorts(job, [newPortRequest()])).rejects.toMatchObject({
      code: 'OVER_QUOTA',
      kind: 'over-quota',
    });
  });
});
