import { randomUUID } from 'node:crypto';
import type { Store } from '@apistrata/record-store';
import { afterAll, beforeAll, inject } from 'vitest';
import type { Caller } from '../../src/caller/caller.js';
import { type EmbeddedNetworkCatalog, embeddedNetworks } from '../../src/network/builtin/embedded-networks.js';
import type { HostTunnel } from '../../src/network/builtin/network-mtu.js';
import type { PortView } from '../../src/network/builtin/port-records.js';
import type { NewPort } from '../../src/network/network-catalog.js';
import { storesUnderTest } from '../stores-under-test.js';

export const member = (name: string): Caller => ({ userId: name, projectId: `p-${name}`, roles: ['member', 'reader'] });
export const ada = member('ada');
export const bob = member('bob');
export const admin: Caller = { userId: 'root', projectId: 'p-root', roles: ['admin'], isAdmin: true };

/** The preset: a shared network with IPv4 and IPv6 subnets, and an external network. */
export const SHARED = '22222222-2222-4222-8222-222222222222';
export const PUBLIC = '33333333-3333-4333-8333-333333333333';

export const networkPreset = {
  networks: [
    { id: SHARED, name: 'private', subnets: [{ cidr: '10.1.0.0/22' }, { cidr: 'fd00:1::/64' }] },
    { id: PUBLIC, name: 'public', external: true, subnets: [{ cidr: '203.0.113.0/24' }] },
  ],
};

/** Returns the fields of a new port for a server that the user `ada` owns. */
export function newPortRequest(networkId: string, more: Partial<NewPort> = {}): NewPort {
  const place = { deviceId: randomUUID(), deviceOwner: 'compute:nova', hostId: 'host1' };
  return { key: randomUUID(), networkId, projectId: 'p-ada', ...place, ...more };
}

export function addresses(port: { readonly fixedIps: readonly { readonly address: string }[] }): string[] {
  return port.fixedIps.map((fixedIp) => fixedIp.address);
}

export interface NetworksUnderTest {
  readonly store: Store;
  readonly networks: EmbeddedNetworkCatalog;
  /** The ids of the servers that the catalog passed to `onServerPortsChanged`, in order. */
  readonly changedServers: readonly string[];
  /** Creates a network for a single test, so that other tests do not use the network's addresses. */
  net(caller: Caller, ...cidrs: string[]): Promise<string>;
  port(networkId: string, more?: Partial<NewPort>, caller?: Caller): Promise<PortView>;
  close(): Promise<void>;
}

/** Functions that open an embedded network catalog with the preset, by database. */
export const networksUnderTest = storesUnderTest(inject('postgresUrl')).map(({ kind, open }) => ({
  kind,
  async open(hostTunnels?: () => Promise<readonly HostTunnel[]>): Promise<NetworksUnderTest> {
    const { store, close } = await open();
    const changedServers: string[] = [];
    const networks = embeddedNetworks({
      store,
      hostTunnels,
      onServerPortsChanged: (serverId) => changedServers.push(serverId),
    });
    await networks.seed(networkPreset);
    return {
      store,
      networks,
      changedServers,
      async net(caller, ...cidrs) {
        const { id } = await networks.createNetwork(caller, { name: 'own' });
        for (const cidr of cidrs) await networks.createSubnet(caller, { networkId: id, cidr });
        return id;
      },
      async port(networkId, more = {}, caller = ada) {
        const [created] = await networks.createPorts(caller, [newPortRequest(networkId, more)]);
        return created!;
      },
      close,
    };
  },
}));

/** Returns a network catalog that all tests in a file share. The catalog is open when the first test starts. */
export function sharedNetworks(open: () => Promise<NetworksUnderTest>): NetworksUnderTest {
  const cloud = {} as NetworksUnderTest;
  beforeAll(async () => void Object.assign(cloud, await open()));
  afterAll(() => cloud.close());
  return cloud;
}
