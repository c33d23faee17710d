import { cidrOf } from '@apistrata/compute-engine/catalogs';
import type { NetworkPlan, PlannedNetwork, PlannedRouter } from '@apistrata/compute-engine/drivers';
import { netmask } from '../guest/netmask.js';
import { SERVICE_ADDRESS } from './service-address.js';

/** Lease time of addresses. */
const LEASE = '1d';
const MIN_PREFIX = 64;

/** The first lines of every configuration, which disable everything that is not enabled below. */
const BASE_CONFIGURATION = [
  'port=0',
  'no-resolv',
  'no-hosts',
  'bind-interfaces',
  'except-interface=lo',
  'leasefile-ro',
  'log-facility=-',
];

const joinLines = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('');

/** The files of one network's DHCP server. */
export interface DhcpFiles {
  /** The file that dnsmasq reads at its start. */
  readonly configuration: string;
  /** The files that dnsmasq reads again on a signal. */
  readonly hosts: string;
  readonly options: string;
}

type Subnets = PlannedNetwork['subnets'];

/** Returns the subnets in which guests get their address by DHCP. */
function dhcpSubnets({ subnets }: PlannedNetwork): Subnets {
  return subnets.filter(({ ipVersion, enableDhcp }) => ipVersion === 4 && enableDhcp);
}

/**
 * Returns the IPv6 subnets whose guests request addresses, or other settings, by DHCP. dnsmasq does not support shorter prefixes.
 */
function dhcpIpv6Subnets({ subnets }: PlannedNetwork): Subnets {
  return subnets.filter(
    ({ cidr, ipVersion, enableDhcp, ipv6AddressMode: mode }) =>
      ipVersion === 6 && enableDhcp && mode !== null && mode !== 'slaac' && cidrOf(cidr).prefix >= MIN_PREFIX,
  );
}

/** Returns options for the IPv6 resolvers of these subnets, each for guests with its tag. */
function ipv6Resolvers(subnets: Subnets, tag: (index: number) => string): readonly string[] {
  return subnets.flatMap(({ dnsNameservers }, index) => {
    const resolvers = dnsNameservers.filter((address) => address.includes(':')).map((address) => `[${address}]`);
    return resolvers.length > 0 ? [`tag:${tag(index)},option6:dns-server,${resolvers.join(',')}`] : [];
  });
}

/**
 * Returns the files of dnsmasq for a network: each guest gets exactly its own address. The server responds from the
 * address of the services, which is outside of all subnets, so it occupies none of their addresses.
 *
 * @param device the device on which the server listens
 * @param folder the folder of the files
 * @param nameservers the nameservers for subnets without their own
 */
export function dhcpFiles(
  network: PlannedNetwork,
  { ports }: Pick<NetworkPlan, 'ports'>,
  device: string,
  folder: string,
  nameservers: readonly string[],
): DhcpFiles {
  const subnetsV4 = dhcpSubnets(network);
  const tag = (index: number) => `subnet${index}`;
  const ranges = subnetsV4.flatMap(({ cidr }, index) => {
    const [first = ''] = cidr.split('/');
    return [
      `shared-network=${device},${first}`,
      `dhcp-range=set:${tag(index)},${first},static,${netmask(cidr)},${LEASE}`,
    ];
  });
  const subnetsV6 = dhcpIpv6Subnets(network);
  const tag6 = (index: number) => `six${index}`;
  const ranges6 = subnetsV6.flatMap(({ cidr }, index) => {
    const [first = '', length] = cidr.split('/');
    return [`shared-network=${device},${first}`, `dhcp-range=set:${tag6(index)},${first},static,${length},${LEASE}`];
  });
  const configuration = [
    ...BASE_CONFIGURATION,
    `interface=${device}`,
    'dhcp-authoritative',
    'no-ping',
    'quiet-dhcp',
    'quiet-dhcp6',
    `pid-file=${folder}/pid`,
    `dhcp-hostsfile=${folder}/hosts`,
    `dhcp-optsfile=${folder}/options`,
    ...ranges,
    ...ranges6,
  ];
  const hosts = ports
    .filter(({ networkId }) => networkId === network.id)
    .flatMap(({ mac, addresses }) => {
      const addressV4 = addresses.find(({ subnetId }) => subnetsV4.some(({ id }) => id === subnetId));
      const addressesV6 = addresses.filter(({ subnetId }) => subnetsV6.some(({ id }) => id === subnetId));
      const all = [...(addressV4 ? [addressV4.address] : []), ...addressesV6.map(({ address }) => `[${address}]`)];
      return all.length > 0 ? [[mac, ...all].join(',')] : [];
    });
  const options = subnetsV4.flatMap(({ gatewayIp, dnsNameservers, hostRoutes, cidr }, index) => {
    const resolvers = (dnsNameservers.length > 0 ? dnsNameservers : nameservers).filter((one) => !one.includes(':'));
    const onLink = `${SERVICE_ADDRESS}/32,0.0.0.0`;
    const others = hostRoutes.filter(({ destination }) => !destination.includes(':'));
    const routes = [onLink, ...others.map(({ destination, nexthop }) => `${destination},${nexthop}`)];
    // Guests that support this option ignore the option with the gateway, so the routes include it.
    const all = gatewayIp === null ? routes : [...routes, `0.0.0.0/0,${gatewayIp}`];
    const last = cidrOf(cidr).last;
    return [
      // Without this option, dnsmasq would announce itself as the router.
      `tag:${tag(index)},option:router${gatewayIp === null ? '' : `,${gatewayIp}`}`,
      `tag:${tag(index)},option:classless-static-route,${all.join(',')}`,
      `tag:${tag(index)},option:mtu,${network.mtu}`,
      `tag:${tag(index)},option:dns-server${resolvers.length > 0 ? `,${resolvers.join(',')}` : ''}`,
      `tag:${tag(index)},option:broadcast,${[24n, 16n, 8n, 0n].map((shift) => (last >> shift) & 255n).join('.')}`,
    ];
  });
  return {
    configuration: joinLines(configuration),
    hosts: joinLines(hosts),
    options: joinLines([...options, ...ipv6Resolvers(subnetsV6, tag6)]),
  };
}

/** Returns true if a network has a DHCP server. */
export function hasDhcp(network: PlannedNetwork): boolean {
  return dhcpSubnets(network).length + dhcpIpv6Subnets(network).length > 0;
}

/** The dnsmasq modes for router advertisements of a subnet. */
const ADVERTISEMENT_MODES = {
  slaac: 'ra-only,64',
  'dhcpv6-stateless': 'ra-stateless,64',
  'dhcpv6-stateful': 'static,64',
} as const;

/**
 * Returns the files of dnsmasq for router advertisements in the namespace of a router: the prefixes of its networks,
 * the method of address assignment, and the router itself.
 *
 * @param device returns the device of an interface of the router
 * @param folder the folder of the files
 * @returns undefined if no subnet needs advertisements
 */
export function announcementFiles(
  { interfaces }: PlannedRouter,
  { networks }: Pick<NetworkPlan, 'networks'>,
  device: (interfaceId: string) => string,
  folder: string,
): DhcpFiles | undefined {
  const subnets = new Map(networks.flatMap(({ subnets: all }) => all.map((subnet) => [subnet.id, subnet] as const)));
  const announcedInterfaces = interfaces.flatMap(({ id, addresses }) =>
    addresses.flatMap(({ subnetId }) => {
      const subnet = subnets.get(subnetId);
      const mode = subnet?.enableDhcp ? subnet.ipv6RaMode : null;
      if (!subnet || mode === null || cidrOf(subnet.cidr).prefix !== MIN_PREFIX) return [];
      return [{ device: device(id), subnet, mode }];
    }),
  );
  if (announcedInterfaces.length === 0) return undefined;
  const tag = (index: number) => `six${index}`;
  const configuration = [
    ...BASE_CONFIGURATION,
    ...new Set(announcedInterfaces.map((announced) => `interface=${announced.device}`)),
    'enable-ra',
    'quiet-ra',
    'quiet-dhcp6',
    `pid-file=${folder}/pid`,
    `dhcp-optsfile=${folder}/options`,
    ...announcedInterfaces.map(({ subnet, mode }, index) => {
      const [first] = subnet.cidr.split('/');
      return `dhcp-range=set:${tag(index)},${first},${ADVERTISEMENT_MODES[mode]},${LEASE}`;
    }),
  ];
  const options = ipv6Resolvers(
    announcedInterfaces.map(({ subnet }) => subnet),
    tag,
  );
  return { configuration: joinLines(configuration), hosts: '', options: joinLines(options) };
}
