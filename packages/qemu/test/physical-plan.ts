import type { NetworkPlan } from '@apistrata/compute-engine/drivers';
import { sanitizePlan } from '../src/network/checked-plan.js';

const ID = '11111111-1111-4111-8111-111111111111';

/** Returns a plan that contains one network, which is connected to a physical network, and a port. */
export function planOf(networkType: string, physicalNetwork: string, segmentationId: number | null): NetworkPlan {
  const provider = { networkType, physicalNetwork, segmentationId };
  const subnet = { id: 's', cidr: '192.168.50.0/24', ipVersion: 4, enableDhcp: true };
  const network = {
    id: ID,
    name: 'lan',
    mtu: 1500,
    segment: 1,
    provider,
    subnets: [{ ...subnet, gatewayIp: null, dnsNameservers: [], hostRoutes: [] }],
  };
  const port = { id: 'p', networkId: ID, mac: 'fa:16:3e:00:00:01', adminStateUp: true, addresses: [] };
  const rules = { portSecurityEnabled: true, securityGroupIds: [], allowedAddressPairs: [] };
  return sanitizePlan({
    networks: [network],
    ports: [{ ...port, ...rules, serverId: 'x' }],
    routers: [],
    rules: [],
    members: {},
  } as unknown as NetworkPlan);
}
