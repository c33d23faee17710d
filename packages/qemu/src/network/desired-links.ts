import { usesPhysicalNetwork } from '@apistrata/compute-engine/catalogs';
import type { NetworkPlan } from '@apistrata/compute-engine/drivers';
import type { DesiredLink } from './desired-link.js';
import { type DeviceNames, deriveMac } from './device-names.js';
import { type PhysicalNetworks, physicalLinks } from './physical-networks.js';
import { supportsLearning, type Tunnels } from './tunnels.js';

const UPLINK_MTU = 1500;
/** The overhead of a tunnel over IPv6, in bytes per packet. */
const TUNNEL_OVERHEAD_BYTES = 70;
const MIN_IPV6_MTU = 1280;

/**
 * Returns the networks that have servers on this host, and that therefore need DHCP and metadata services here. A
 * network in which this host has only routers needs none.
 */
export function selectServedNetworks({ networks, ports }: NetworkPlan): NetworkPlan['networks'] {
  const servedIds = new Set(ports.map(({ networkId }) => networkId));
  return networks.filter(({ id }) => servedIds.has(id));
}

function tunnelLinks(networks: NetworkPlan['networks'], names: DeviceNames, tunnels: Tunnels): readonly DesiredLink[] {
  const device = tunnels.wireguard?.device;
  const tunnelProperties = {
    kind: 'tunnel',
    local: tunnels.local,
    learning: supportsLearning(tunnels),
    device,
  } as const;
  const tunneledNetworks = networks.filter((network) => !usesPhysicalNetwork(network));
  const links = tunneledNetworks.map(({ id, mtu, segment }) => ({
    ...tunnelProperties,
    name: names.tunnel(id),
    bridge: names.bridge(id),
    mtu,
    segment,
  }));
  if (device === undefined) return links;
  const mtu = Math.max(MIN_IPV6_MTU, ...tunneledNetworks.map((network) => network.mtu)) + TUNNEL_OVERHEAD_BYTES;
  return [{ kind: 'port', name: device, bridge: null, mtu }, ...links];
}

/**
 * Returns all network devices that a plan requires, bridges first.
 *
 * @param physical the physical networks of this computer
 * @param tunnels the tunnels to other hosts; undefined if there are none
 * @param multiqueue whether each port has several queues, by port id; missing for a port if unknown
 */
export function desiredLinks(
  plan: NetworkPlan,
  names: DeviceNames,
  physical: PhysicalNetworks,
  tunnels?: Tunnels,
  multiqueue: ReadonlyMap<string, boolean> = new Map(),
): readonly DesiredLink[] {
  const { networks, ports, routers } = plan;
  const mtuById = new Map(networks.map(({ id, mtu }) => [id, mtu]));
  const mtuOf = (networkId: string) => mtuById.get(networkId) ?? UPLINK_MTU;
  return [
    ...networks.map(({ id, mtu }): DesiredLink => ({ kind: 'bridge', name: names.bridge(id), mtu })),
    ...ports.map(
      ({ id, networkId, adminStateUp }): DesiredLink => ({
        kind: 'tap',
        name: names.tap(id),
        bridge: names.bridge(networkId),
        mtu: mtuOf(networkId),
        up: adminStateUp,
        multiqueue: multiqueue.get(id),
      }),
    ),
    ...(tunnels ? tunnelLinks(networks, names, tunnels) : []),
    ...networks.flatMap((network) => physicalLinks(network, names, physical)),
    ...selectServedNetworks(plan).map(({ id, mtu }): DesiredLink => {
      const name = names.service(id);
      return { kind: 'veth', name, bridge: names.bridge(id), namespace: name, mac: deriveMac(name), mtu };
    }),
    ...routers.flatMap((router): readonly DesiredLink[] => {
      const namespace = names.router(router.id);
      const interfaceLinks = router.interfaces.map(
        ({ id, networkId, mac }): DesiredLink => ({
          kind: 'veth',
          name: names.router(id),
          bridge: names.bridge(networkId),
          namespace,
          mac,
          mtu: mtuOf(networkId),
        }),
      );
      const name = names.uplink(router.id);
      const uplink: DesiredLink = {
        kind: 'veth',
        name,
        bridge: null,
        namespace,
        mac: deriveMac(name),
        mtu: UPLINK_MTU,
      };
      return router.external ? [...interfaceLinks, uplink] : interfaceLinks;
    }),
  ];
}

/** An existing network device in the output of `ip`. */
export interface ExistingLink {
  readonly ifindex: number;
  readonly ifname: string;
  readonly mtu: number;
  readonly master?: string;
  /** The other end of a device pair, or the device of a VLAN. */
  readonly link?: string;
  readonly flags: readonly string[];
  readonly linkinfo?: { readonly info_data?: LinkData };
}

/** The attributes of a tunnel, a VLAN or a TAP device that cannot be changed after its creation. */
interface LinkData {
  readonly id?: number;
  readonly local?: string;
  readonly local6?: string;
  readonly port?: number;
  readonly learning?: boolean;
  readonly multi_queue?: boolean;
}

/** Returns true if an existing device must be recreated to get the desired attributes. */
export function mustRecreate(link: DesiredLink, { linkinfo }: ExistingLink): boolean {
  if (link.kind === 'tap')
    return link.multiqueue !== undefined && (linkinfo?.info_data?.multi_queue ?? false) !== link.multiqueue;
  if (link.kind === 'vlan') return linkinfo?.info_data?.id !== link.tag;
  if (link.kind !== 'tunnel') return false;
  const { id, local, local6, port, learning } = linkinfo?.info_data ?? {};
  const { address, port: desiredPort } = link.local;
  return id !== link.segment || (local ?? local6) !== address || port !== desiredPort || learning !== link.learning;
}

/** Returns the `ip` commands that create a network device. TAP devices belong to the user that runs QEMU. */
function creationCommands(link: DesiredLink, tapOwner: number): readonly string[] {
  const { name, mtu } = link;
  if (link.kind === 'bridge')
    return [
      `link add name ${name} mtu ${mtu} type bridge stp_state 0 forward_delay 0 mcast_snooping 0 nf_call_iptables 1 nf_call_ip6tables 1`,
      `link set dev ${name} addrgenmode none arp off up`,
    ];
  if (link.kind === 'tap')
    return [`tuntap add dev ${name} mode tap user ${tapOwner}${link.multiqueue ? ' multi_queue' : ''}`];
  if (link.kind === 'tunnel') {
    const { segment, local, learning, device } = link;
    return [
      `link add name ${name} mtu ${mtu} type vxlan id ${segment} local ${local.address}${device ? ` dev ${device}` : ''} dstport ${local.port} ${learning ? '' : 'no'}learning`,
    ];
  }
  if (link.kind === 'pair') return [`link add name ${name} mtu ${mtu} type veth peer name ${link.peer} mtu ${mtu}`];
  if (link.kind === 'port') return [];
  if (link.kind === 'vlan') return [`link add link ${link.parent} name ${name} mtu ${mtu} type vlan id ${link.tag}`];
  const { namespace, mac } = link;
  return [`link add name ${name} mtu ${mtu} type veth peer name ${name} address ${mac} mtu ${mtu} netns ${namespace}`];
}

/**
 * Returns the `ip` commands that remove devices. The kernel removes the other end of a device pair, and the VLANs of a
 * device, with the device itself.
 */
export function removalCommands(links: readonly ExistingLink[]): readonly string[] {
  const removed = new Set<string>();
  return links.flatMap(({ ifname, link = '' }) => {
    const isRemoved = removed.has(link);
    removed.add(ifname);
    return isRemoved ? [] : [`link delete dev ${ifname}`];
  });
}

/**
 * Returns the `ip` commands that change the existing devices to the desired ones, in the order in which they must be
 * executed.
 */
export function linkCommands(
  desired: readonly DesiredLink[],
  existing: readonly ExistingLink[],
  tapOwner: number,
): readonly string[] {
  const links = new Map(existing.map((link) => [link.ifname, link]));
  return desired.flatMap((link) => {
    const { name, mtu } = link;
    const existingLink = links.get(name);
    const commands = existingLink ? [] : [...creationCommands(link, tapOwner)];
    if (existingLink ? existingLink.mtu !== mtu : link.kind === 'tap') commands.push(`link set dev ${name} mtu ${mtu}`);
    if (link.kind === 'bridge') return commands;
    const mustBeUp = link.kind !== 'tap' || link.up;
    const isUp = existingLink?.flags.includes('UP') === true;
    if (!existingLink) commands.push(`link set dev ${name} addrgenmode none`);
    if (link.bridge !== null && existingLink?.master !== link.bridge)
      commands.push(`link set dev ${name} master ${link.bridge}`);
    if (mustBeUp !== isUp) commands.push(`link set dev ${name} ${mustBeUp ? 'up' : 'down'}`);
    return commands;
  });
}
