import type { NetworkPlan } from '@apistrata/compute-engine/drivers';
import { type DeviceNames, macFor } from './device-names.js';
import { canLearn, type TunnelEnd, type Tunnels } from './tunnels.js';

/** A device of this computer that networks are made of. */
export type DesiredLink = { readonly name: string; readonly mtu: number } & (
  | { readonly kind: 'bridge' }
  | { readonly kind: 'tap'; readonly bridge: string; readonly up: boolean }
  /** The same network on other hosts. */
  | {
      readonly kind: 'tunnel';
      readonly bridge: string;
      readonly segment: number;
      readonly local: TunnelEnd;
      readonly learning: boolean;
    }
  | {
      /** A pair: this end at a bridge, or free, the other one, of the same name, in a namespace. */
      readonly kind: 'veth';
      readonly bridge: string | null;
      readonly namespace: string;
      readonly mac: string;
    }
);

const UPLINK_MTU = 1500;

/** Networks that servers here are on: those of routers alone need no services. */
export function servedNetworks({ networks, ports }: NetworkPlan): NetworkPlan['networks'] {
  const used = new Set(ports.map(({ networkId }) => networkId));
  return networks.filter(({ id }) => used.has(id));
}

function tunnelLinks(networks: NetworkPlan['networks'], names: DeviceNames, tunnels: Tunnels): readonly DesiredLink[] {
  const ends = { kind: 'tunnel', local: tunnels.local, learning: canLearn(tunnels) } as const;
  return networks.map(({ id, mtu, segment }) => ({
    ...ends,
    name: names.tunnel(id),
    bridge: names.bridge(id),
    mtu,
    segment,
  }));
}

/**
 * All devices of a plan, bridges first.
 * @param tunnels to other hosts; undefined: there are none
 */
export function desiredLinks(plan: NetworkPlan, names: DeviceNames, tunnels?: Tunnels): readonly DesiredLink[] {
  const { networks, ports, routers } = plan;
  const mtus = new Map(networks.map(({ id, mtu }) => [id, mtu]));
  const mtuOf = (networkId: string) => mtus.get(networkId) ?? UPLINK_MTU;
  return [
    ...networks.map(({ id, mtu }): DesiredLink => ({ kind: 'bridge', name: names.bridge(id), mtu })),
    ...ports.map(
      ({ id, networkId, adminStateUp }): DesiredLink => ({
        kind: 'tap',
        name: names.tap(id),
        bridge: names.bridge(networkId),
        mtu: mtuOf(networkId),
        up: adminStateUp,
      }),
    ),
    ...(tunnels ? tunnelLinks(networks, names, tunnels) : []),
    ...servedNetworks(plan).map(({ id, mtu }): DesiredLink => {
      const name = names.service(id);
      return { kind: 'veth', name, bridge: names.bridge(id), namespace: name, mac: macFor(name), mtu };
    }),
    ...routers.flatMap((router): readonly DesiredLink[] => {
      const namespace = names.router(router.id);
      const inside = router.interfaces.map(
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
      const uplink: DesiredLink = { kind: 'veth', name, bridge: null, namespace, mac: macFor(name), mtu: UPLINK_MTU };
      return router.external ? [...inside, uplink] : inside;
    }),
  ];
}

/** A device that there is, as `ip` tells it. */
export interface Link {
  readonly ifindex: number;
  readonly ifname: string;
  readonly mtu: number;
  readonly master?: string;
  readonly flags: readonly string[];
  readonly linkinfo?: { readonly info_data?: TunnelData };
}

/** Of a tunnel, what cannot be changed. */
interface TunnelData {
  readonly id?: number;
  readonly local?: string;
  readonly local6?: string;
  readonly port?: number;
  readonly learning?: boolean;
}

/** Whether a device has to be made anew to be what is wanted. */
export function isOther(link: DesiredLink, { linkinfo }: Link): boolean {
  if (link.kind !== 'tunnel') return false;
  const { id, local, local6, port, learning } = linkinfo?.info_data ?? {};
  const { address, port: desiredPort } = link.local;
  return id !== link.segment || (local ?? local6) !== address || port !== desiredPort || learning !== link.learning;
}

/** What `ip` is told to make a device that is not there. Taps belong to the user whom machines run as. */
function making(link: DesiredLink, tapOwner: number): readonly string[] {
  const { name, mtu } = link;
  if (link.kind === 'bridge')
    return [
      `link add name ${name} mtu ${mtu} type bridge stp_state 0 forward_delay 0 mcast_snooping 0 nf_call_iptables 1 nf_call_ip6tables 1`,
      `link set dev ${name} addrgenmode none arp off up`,
    ];
  if (link.kind === 'tap') return [`tuntap add dev ${name} mode tap user ${tapOwner}`];
  if (link.kind === 'tunnel') {
    const { segment, local, learning } = link;
    return [
      `link add name ${name} mtu ${mtu} type vxlan id ${segment} local ${local.address} dstport ${local.port} ${learning ? '' : 'no'}learning`,
    ];
  }
  const { namespace, mac } = link;
  return [`link add name ${name} mtu ${mtu} type veth peer name ${name} address ${mac} mtu ${mtu} netns ${namespace}`];
}

/**
 * What `ip` is told to come from the devices that there are to those that are desired.
 * @returns in the order in which it has to be done
 */
export function linkCommands(
  desired: readonly DesiredLink[],
  there: readonly Link[],
  tapOwner: number,
): readonly string[] {
  const links = new Map(there.map((link) => [link.ifname, link]));
  return desired.flatMap((link) => {
    const { name, mtu } = link;
    const known = links.get(name);
    const commands = known ? [] : [...making(link, tapOwner)];
    if (known ? known.mtu !== mtu : link.kind === 'tap') commands.push(`link set dev ${name} mtu ${mtu}`);
    if (link.kind === 'bridge') return commands;
    const up = link.kind !== 'tap' || link.up;
    const isUp = known?.flags.includes('UP') === true;
    if (!known) commands.push(`link set dev ${name} addrgenmode none`);
    if (link.bridge !== null && known?.master !== link.bridge)
      commands.push(`link set dev ${name} master ${link.bridge}`);
    if (up !== isUp) commands.push(`link set dev ${name} ${up ? 'up' : 'down'}`);
    return commands;
  });
}
