import { isIPv4 } from 'node:net';
import { parseCidr, parseIp } from '@apistrata/compute-engine/catalogs';
import type { NetworkPlan, PlannedNetwork, PlannedRouter } from '@apistrata/compute-engine/drivers';

const MAC = /^([0-9a-f]{2}:){5}[0-9a-f]{2}$/;
/** What devices take; below the first one IPv4 does not work. */
const [LEAST_MTU, MOST_MTU] = [576, 65_535];

function checkedNetwork(network: PlannedNetwork): PlannedNetwork {
  const { mtu, subnets } = network;
  return {
    ...network,
    mtu: Math.min(MOST_MTU, Math.max(LEAST_MTU, Math.trunc(Number(mtu)) || LEAST_MTU)),
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

function checkedRouter(router: PlannedRouter): PlannedRouter {
  return {
    ...router,
    interfaces: router.interfaces
      .filter(({ mac }) => MAC.test(mac))
      .map((one) => ({ ...one, addresses: one.addresses.filter(({ address }) => parseIp(address)) })),
    externalAddresses: router.externalAddresses.filter((address) => parseIp(address)),
    floating: router.floating.filter(({ address, fixedAddress }) => isIPv4(address) && isIPv4(fixedAddress)),
  };
}

/**
 * A plan without anything that a device cannot have. Everything in it ends up in what other programs read, so nothing passes
 * that is not what it says: some of it was written by users, and network services differ in what they refuse.
 */
export function checkedPlan(plan: NetworkPlan): NetworkPlan {
  return {
    ...plan,
    networks: plan.networks.map(checkedNetwork),
    ports: plan.ports
      .map((port) => ({ ...port, mac: port.mac.toLowerCase() }))
      .filter(({ mac }) => MAC.test(mac))
      .map((port) => ({ ...port, addresses: port.addresses.filter(({ address }) => parseIp(address)) })),
    routers: plan.routers.map(checkedRouter),
  };
}
