import type { Server, ServerInterface } from '@apistrata/compute-engine';
import type { DriverServices } from '@apistrata/compute-engine/drivers';
import { describe, expect, it } from 'vitest';
import { readGuestInterface } from './guest-networks.js';

const server = { projectId: 'p', userId: 'u' } as Server;
const serverInterface = {
  portId: 'port',
  networkId: 'network',
  mac: 'fa:16:3e:00:00:01',
  tag: null,
  fixedIps: [{ address: '10.0.0.5', version: 4, subnetId: 'subnet' }],
} as unknown as ServerInterface;

/** Returns the part of a network service that is needed for one interface. */
function networksWith(subnet: object, network: object): DriverServices['networks'] {
  const settings = { cidr: '10.0.0.0/24', gatewayIp: null, dnsNameservers: [], hostRoutes: [] };
  return {
    getNetwork: async () => ({ mtu: 1400, ...network }),
    getSubnet: async () => ({ ...settings, ...subnet }),
  } as unknown as DriverServices['networks'];
}

describe('the address of a guest interface', () => {
  it.each([
    ['from DHCP, if the subnet has it', true, {}, false],
    ['static on a subnet without DHCP', false, { portSecurityEnabled: true }, true],
    ['static if the network service does not report port security', false, {}, true],
    ['from a DHCP server outside the cloud without port security', false, { portSecurityEnabled: false }, false],
  ])('is %s', async (_, enableDhcp, network, isStatic) => {
    const networks = networksWith({ enableDhcp }, network);
    const { addresses, mtu } = await readGuestInterface(networks, server, serverInterface);
    expect(addresses).toEqual([
      { address: '10.0.0.5', version: 4, isStatic, cidr: '10.0.0.0/24', gateway: null, nameservers: [], routes: [] },
    ]);
    expect(mtu).toBe(1400);
  });
});
