import { cidrOf } from '@apistrata/compute-engine/catalogs';
import type { NetworkPlan, PlannedNetwork, PlannedRouter } from '@apistrata/compute-engine/drivers';
import { netmaskOf } from '../guest/netmask.js';
import { SERVICE_ADDRESS } from './service-address.js';

/** The lease time of IP addresses. */
const LEASE_TIME = '1d';
const MIN_PREFIX_LENGTH = 64;

/** The first lines of every dnsmasq configuration, which disable all features that later lines do not enable. */
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

/** The contents of the files that configure a network's DHCP server. */
export interface DhcpFiles {
  /** The configuration file, which dnsmasq reads only when it starts. */
  readonly configuration: string;
  /** The hosts and options files, which dnsmasq reads again on SIGHUP. */
  readonly hosts: string;
  readonly options: string;
}

type Subnets = PlannedNetwork['subnets'];

/** Returns the IPv4 subnets whose guests get their address by DHCP. */
function dhcpSubnets({ subnets }: PlannedNetwork): Subnets {
  return subnets.filter(({ ipVersion, enableDhcp }) => ipVersion === 4 && enableDhcp);
}

/**
 * Returns the IPv6 subnets whose guests request addresses or other settings by DHCP. Omits subnets with prefixes that
 * are shorter than dnsmasq supports.
 */
function dhcpIpv6Subnets({ subnets }: PlannedNetwork): Subnets {
  return subnets.filter(
    ({ cidr, ipVersion, enableDhcp, ipv6AddressMode: mode }) =>
      ipVersion === 6 && enableDhcp && mode !== null && mode !== 'slaac' && cidrOf(cidr).prefix >= MIN_PREFIX_LENGTH,
  );
}

/** Returns dnsmasq options that announce the subnets' IPv6 resolvers, each to guests with the subnet's tag. */
function createResolverOptions(subnets: Subnets, tag: (index: number) => string): readonly string[] {
  return subnets.flatMap(({ dnsNameservers }, index) => {
    const resolvers = dnsNameservers.filter((address) => address.includes(':')).map((address) => `[${address}]`);
    return resolvers.length > 0 ? [`tag:${tag(index)},option6:dns-server,${resolvers.join(',')}`] : [];
  });
}

/**
 * Returns the dnsmasq files for a network, which assign each guest exactly its own addresses. The server responds from
 * the service address, which is outside of all subnets, so that it occupies no guest address.
 *
 * @param device the network device on which the server listens
 * @param folder the folder that will contain the files
 * @param nameservers the nameservers for subnets that define none
 */
export function createDhcpFiles(
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
      `dhcp-range=set:${tag(index)},${first},static,${netmaskOf(cidr)},${LEASE_TIME}`,
    ];
  });
  const subnetsV6 = dhcpIpv6Subnets(network);
  const tagV6 = (index: number) => `six${index}`;
  const rangesV6 = subnetsV6.flatMap(({ cidr }, index) => {
    const [first = '', length] = cidr.split('/');
    return [
      `shared-network=${device},${first}`,
      `dhcp-range=set:${tagV6(index)},${first},static,${length},${LEASE_TIME}`,
    ];
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
    ...rangesV6,
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
    const resolvers = (dnsNameservers.length > 0 ? dnsNameservers : nameservers).filter(
      (nameserver) => !nameserver.includes(':'),
    );
    const serviceRoute = `${SERVICE_ADDRESS}/32,0.0.0.0`;
    const ipv4Routes = hostRoutes.filter(({ destination }) => !destination.includes(':'));
    const routes = [serviceRoute, ...ipv4Routes.map(({ destination, nexthop }) => `${destination},${nexthop}`)];
    // Guests that support classless static routes ignore the router option, so these routes include the default route.
    const all = gatewayIp === null ? routes : [...routes, `0.0.0.0/0,${gatewayIp}`];
    const lastAddress = cidrOf(cidr).last;
    return [
      // Without this option, dnsmasq would announce itself as the router.
      `tag:${tag(index)},option:router${gatewayIp === null ? '' : `,${gatewayIp}`}`,
      `tag:${tag(index)},option:classless-static-route,${all.join(',')}`,
      `tag:${tag(index)},option:mtu,${network.mtu}`,
      `tag:${tag(index)},option:dns-server${resolvers.length > 0 ? `,${resolvers.join(',')}` : ''}`,
      `tag:${tag(index)},option:broadcast,${[24n, 16n, 8n, 0n].map((shift) => (lastAddress >> shift) & 255n).join('.')}`,
    ];
  });
  return {
    configuration: joinLines(configuration),
    hosts: joinLines(hosts),
    options: joinLines([...options, ...createResolverOptions(subnetsV6, tagV6)]),
  };
}

/** Returns true if a network has a DHCP server. */
export function hasDhcp(network: PlannedNetwork): boolean {
  return dhcpSubnets(network).length + dhcpIpv6Subnets(network).length > 0;
}

/** The dnsmasq modes of router advertisements, by a subnet's IPv6 RA mode. */
const ADVERTISEMENT_MODES = {
  slaac: 'ra-only,64',
  'dhcpv6-stateless': 'ra-stateless,64',
  'dhcpv6-stateful': 'static,64',
} as const;

/**
 * Returns the dnsmasq files that make a router send router advertisements: the prefixes of its networks, the method of
 * address assignment, and the router itself.
 *
 * @param device returns the network device of a router interface
 * @param folder the folder that will contain the files
 * @returns undefined if no subnet needs router advertisements
 */
export function createAdvertisementFiles(
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
      if (!subnet || mode === null || cidrOf(subnet.cidr).prefix !== MIN_PREFIX_LENGTH) return [];
      return [{ device: device(id), subnet, mode }];
    }),
  );
  if (announcedInterfaces.length === 0) return undefined;
  const tag = (index: number) => `six${index}`;
  const configuration = [
    ...BASE_CONFIGURATION,
    ...new Set(announcedInterfaces.map((announcedInterface) => `interface=${announcedInterface.device}`)),
    'enable-ra',
    'quiet-ra',
    'quiet-dhcp6',
    `pid-file=${folder}/pid`,
    `dhcp-optsfile=${folder}/options`,
    ...announcedInterfaces.map(({ subnet, mode }, index) => {
      const [first] = subnet.cidr.split('/');
      return `dhcp-range=set:${tag(index)},${first},${ADVERTISEMENT_MODES[mode]},${LEASE_TIME}`;
    }),
  ];
  const options = createResolverOptions(
    announcedInterfaces.map(({ subnet }) => subnet),
    tag,
  );
  return { configuration: joinLines(configuration), hosts: '', options: joinLines(options) };
}
