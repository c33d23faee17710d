import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Caller } from '../../src/caller/caller.js';
import type { NetworkCatalog } from '../../src/network/network-catalog.js';
import { job, NET, type NetworksOverHttp, networksOverHttp, newPortRequest, OTHER } from './networks-over-http.js';

describe('networks over HTTP, on behalf of callers', () => {
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

  /** Returns the requests that the service received since the previous call, with the users: `ada GET /networks`. */
  let read = 0;
  function sent(): string[] {
    const requests = service.journal.slice(read);
    read = service.journal.length;
    return requests.map(({ method, path, headers }) => {
      const own = headers['x-auth-token'] === ada.token;
      // The request also has the service user's token, so that an expired caller's token is still accepted.
      if (own) expect(cloud.identity.tokens.get(String(headers['x-service-token']))).toMatchObject({ admin: true });
      return `${own ? 'ada' : 'service'} ${method} /${path.split('/')[2]}`;
    });
  }

  it('reads, creates and changes on behalf of the caller, and binds on behalf of the service', async () => {
    sent();
    const [port] = await networks.createPorts(ada, [newPortRequest({ securityGroups: ['default'] })]);
    expect(port).toMatchObject({ hostId: 'host1', deviceOwner: 'compute:nova' });
    const [names, groups, floating] = [
      'service GET /networks',
      'service GET /security-groups',
      'service GET /floatingips',
    ];
    expect(sent()).toEqual([
      'service GET /ports',
      'ada GET /networks',
      'ada GET /security-groups',
      'ada POST /ports',
      'service PUT /ports',
      ...[names, groups, floating],
    ]);
    await networks.movePorts(ada, port!.deviceId, 'host2');
    expect(sent()).toEqual(['service GET /ports', 'service PUT /ports']);
    const group = await networks.createSecurityGroup(ada, { name: 'hers' });
    await networks.addSecurityGroup(ada, port!.deviceId, group.id);
    await networks.removeSecurityGroup(ada, port!.deviceId, group.id);
    await networks.createSecurityGroupRule(ada, { securityGroupId: group.id, direction: 'egress' });
    await networks.deleteSecurityGroup(ada, group.id);
    const address = await networks.allocateFloatingIp(ada);
    await networks.releaseFloatingIp(ada, address.id);
    await networks.listNetworks(ada);
    await networks.availableNetworks(ada);
    await networks.checkAddresses(ada, NET);
    await networks.countFreePorts?.(ada);
    expect(sent().filter((one) => !one.startsWith('ada '))).toEqual([]);
    await networks.releasePorts(ada, port!.deviceId, { owned: [port!.id], bound: [] });
    expect(sent()).toEqual(['service GET /ports', 'service DELETE /ports']);
  });

  it.each([
    ['her own token', () => ada],
    ['no token of hers left', () => job],
  ])('does not let a member delete the default group, with %s', async (_, caller) => {
    const rejected = networks.deleteSecurityGroup(caller(), 'default-id');
    await expect(rejected).rejects.toMatchObject({ kind: 'conflict' });
    expect(service.things['security-groups']!.has('default-id')).toBe(true);
  });

  it.each([
    ['her own token', () => ada],
    ['no token of hers left', () => job],
  ])('shows a network that is shared with one project only, with %s', async (_, caller) => {
    const grant = { id: 'g1', object_type: 'network', object_id: OTHER, action: 'access_as_shared' };
    service.things['rbac-policies']!.set('g1', { ...grant, tenant_id: 'p-bob', target_project: 'p-ada' });
    expect(await networks.getNetwork(caller(), OTHER)).toMatchObject({ name: 'other' });
    expect((await networks.listNetworks(caller())).map(({ name }) => name)).toEqual(['private', 'other', 'public']);
    service.things['rbac-policies']!.clear();
    await expect(networks.getNetwork(caller(), OTHER)).rejects.toMatchObject({ code: 'NETWORK_NOT_FOUND' });
  });
});
