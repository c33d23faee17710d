import { isIPv4 } from 'node:net';
import { parseCidr, parseIp } from '@apistrata/compute-engine/catalogs';
import type { NetworkPlan, PlannedNetwork, PlannedRouter } from '@apistrata/compute-engine/drivers';

const MAC_PATTERN = /^([0-9a-f]{2}:){5}[0-9a-f]{2}$/;
/** The range of a network device's MTU. IPv4 does not work below the minimum. */
const [MIN_MTU, MAX_MTU] = [576, 65_535];
const MAX_VLAN_TAG = 4094;

function sanitizeNetwork(network: PlannedNetwork): PlannedNetwork {
  const { mtu, subnets, provider } = network;
  const isVlan = provider?.networkType === 'vlan';
  const tag = Number(provider?.segmentationId);
  return {
    ...network,
    provider: isVlan && !(Number.isInteger(tag) && tag >= 1 && tag <= MAX_VLAN_TAG) ? null : (provider ?? null),
    mtu: Math.min(MAX_MTU, Math.max(MIN_MTU, Math.trunc(Number(mtu)) || MIN_MTU)),
    subnets: subnets
      .filter(({ cidr }) => parseCidr(cidr))
      .map((subnet) => ({
        ...subnet,
        gatewayIp: subnet.gatewayIp !== null && parseIp(subnet.gatewayIp) ? subnet.gatewayIp : null,
        dnsNameservers: subnet.dnsNameservers.filter((address) => parseIp(address)),
        hostRoutes: subnet.hostRoutes.filter(({ destination, nexthop }) => parseCidr(destination) && parseIp(nexthop)),
      })),
  };
}

function sanitizeRouter(router: PlannedRouter): PlannedRouter {
  return {
    ...router,
    interfaces: router.interfaces
      .filter(({ mac }) => MAC_PATTERN.test(mac))
      .map((routerInterface) => ({
        ...routerInterface,
        addresses: routerInterface.addresses.filter(({ address }) => parseIp(address)),
      })),
    externalAddresses: router.externalAddresses.filter((address) => parseIp(address)),
    floating: router.floating.filter(({ address, fixedAddress }) => isIPv4(address) && isIPv4(fixedAddress)),
  };
}

/**
 * Returns a network plan without invalid values. Every value is validated, because the plan becomes input for other
 * programs, some values come from users, and network services differ in what they reject.
 */
export function sanitizePlan(plan: NetworkPlan): NetworkPlan {
  return {
    ...plan,
    networks: plan.networks.map(sanitizeNetwork),
    ports: plan.ports
      .map((port) => ({ ...port, mac: port.mac.toLowerCase() }))
      .filter(({ mac }) => MAC_PATTERN.test(mac))
      .map((port) => ({ ...port, addresses: port.addresses.filter(({ address }) => parseIp(address)) })),
    routers: plan.routers.map(sanitizeRouter),
  };
}
