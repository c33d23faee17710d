import { cidrOf } from '@apistrata/compute-engine/catalogs';
import type { NetworkPlan, PlannedNetwork } from '@apistrata/compute-engine/drivers';
import { SERVICE_ADDRESS } from './guest-rules.js';

/** How long a guest may keep its address without asking again. */
const LEASE = '1d';

/** What a DHCP server of one network reads. */
export interface DhcpFiles {
  /** Read when it starts. */
  readonly configuration: string;
  /** Read again when it is told to. */
  readonly hosts: string;
  readonly options: string;
}

function netmask(prefix: number): string {
  const mask = (2 ** 32 - 2 ** (32 - prefix)) >>> 0;
  return [24, 16, 8, 0].map((shift) => (mask >>> shift) & 255).join('.');
}

/** Subnets whose guests are told their address. */
function toldSubnets({ subnets }: PlannedNetwork) {
  return subnets.filter(({ ipVersion, enableDhcp }) => ipVersion === 4 && enableDhcp);
}

/**
 * What dnsmasq is to tell the guests of a network: to each just its own address. It answers from the address of the
 * services, which is in none of the subnets, so no address of theirs is used up.
 *
 * @param device that it listens at
 * @param folder where its files are
 * @param nameservers for subnets that name none
 */
export function dhcpFiles(
  network: PlannedNetwork,
  { ports }: Pick<NetworkPlan, 'ports'>,
  device: string,
  folder: string,
  nameservers: readonly string[],
): DhcpFiles {
  const told = toldSubnets(network);
  const tag = (index: number) => `subnet${index}`;
  const ranges = told.flatMap(({ cidr }, index) => {
    const [first = ''] = cidr.split('/');
    return [
      `shared-network=${device},${first}`,
      `dhcp-range=set:${tag(index)},${first},static,${netmask(cidrOf(cidr).prefix)},${LEASE}`,
    ];
  });
  const configuration = [
    'port=0',
    'no-resolv',
    'no-hosts',
    'bind-interfaces',
    `interface=${device}`,
    'except-interface=lo',
    'dhcp-authoritative',
    'leasefile-ro',
    'no-ping',
    'log-facility=-',
    'quiet-dhcp',
    `pid-file=${folder}/pid`,
    `dhcp-hostsfile=${folder}/hosts`,
    `dhcp-optsfile=${folder}/options`,
    ...ranges,
  ];
  const hosts = ports
    .filter(({ networkId }) => networkId === network.id)
    .flatMap(({ mac, addresses }) => {
      const given = addresses.find(({ subnetId }) => told.some(({ id }) => id === subnetId));
      return given ? [`${mac},${given.address}`] : [];
    });
  const options = told.flatMap(({ gatewayIp, dnsNameservers, hostRoutes, cidr }, index) => {
    const resolvers = (dnsNameservers.length > 0 ? dnsNameservers : nameservers).filter((one) => !one.includes(':'));
    const onLink = `${SERVICE_ADDRESS}/32,0.0.0.0`;
    const others = hostRoutes.filter(({ destination }) => !destination.includes(':'));
    const routes = [onLink, ...others.map(({ destination, nexthop }) => `${destination},${nexthop}`)];
    // Guests that know routes pass over the gateway, so it is among them.
    const all = gatewayIp === null ? routes : [...routes, `0.0.0.0/0,${gatewayIp}`];
    const last = cidrOf(cidr).last;
    return [
      // Without this it would be dnsmasq itself.
      `tag:${tag(index)},option:router${gatewayIp === null ? '' : `,${gatewayIp}`}`,
      `tag:${tag(index)},option:classless-static-route,${all.join(',')}`,
      `tag:${tag(index)},option:mtu,${network.mtu}`,
      `tag:${tag(index)},option:dns-server${resolvers.length > 0 ? `,${resolvers.join(',')}` : ''}`,
      `tag:${tag(index)},option:broadcast,${[24n, 16n, 8n, 0n].map((shift) => (last >> shift) & 255n).join('.')}`,
    ];
  });
  const text = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('');
  return { configuration: text(configuration), hosts: text(hosts), options: text(options) };
}

/** Whether a network has a DHCP server. */
export function hasDhcp(network: PlannedNetwork): boolean {
  return toldSubnets(network).length > 0;
}
