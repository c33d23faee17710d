import type { Network, SecurityGroupRule, Subnet } from './network-catalog.js';
import type { ProviderSegment } from './provider-segment.js';

/** How guests get IPv6 addresses, or how routers announce them, as in the network service; null: not at all. */
export type Ipv6Mode = 'slaac' | 'dhcpv6-stateful' | 'dhcpv6-stateless' | null;

/** A subnet with its IPv6 modes. */
export interface PlannedSubnet extends Subnet {
  /** How addresses are assigned. */
  readonly ipv6AddressMode: Ipv6Mode;
  /** The mode of router advertisements. */
  readonly ipv6RaMode: Ipv6Mode;
}

/** A network with its subnets. */
export interface PlannedNetwork extends Network {
  /** Missing or null: a network that exists only in the cloud. */
  readonly provider?: ProviderSegment | null;
  /** Number of the network in the cloud, 1 to 2^24 - 1; identifies it in tunnels between hosts. */
  readonly segment: number;
  readonly subnets: readonly PlannedSubnet[];
}

/** A port of a server. */
export interface PlannedPort {
  readonly id: string;
  readonly networkId: string;
  readonly serverId: string;
  readonly mac: string;
  readonly adminStateUp: boolean;
  readonly addresses: readonly { readonly address: string; readonly version: 4 | 6; readonly subnetId: string }[];
  /** If false, traffic is not filtered. */
  readonly portSecurityEnabled: boolean;
  readonly securityGroupIds: readonly string[];
  /**
   * As specified by users: `ip_address` (or a network) and optionally `mac_address` from which the port may send as well.
   */
  readonly allowedAddressPairs: readonly Readonly<Record<string, string>>[];
}

/** The connection of a router to a network. */
export interface PlannedRouterInterface {
  /** UUID of the router's port. */
  readonly id: string;
  readonly networkId: string;
  readonly mac: string;
  readonly addresses: readonly { readonly address: string; readonly version: 4 | 6; readonly subnetId: string }[];
}

/** A router, as far as it concerns the networks of a plan. */
export interface PlannedRouter {
  readonly id: string;
  /** The host of the router; null: the host of the plan. */
  readonly host: string | null;
  readonly adminStateUp: boolean;
  readonly interfaces: readonly PlannedRouterInterface[];
  /** Whether it has an external gateway. */
  readonly external: boolean;
  /** Its own external addresses: the source addresses of guests without a floating IP, if it performs source NAT. */
  readonly externalAddresses: readonly string[];
  readonly enableSnat: boolean;
  readonly floating: readonly { readonly address: string; readonly fixedAddress: string }[];
}

/** The networks to build for some servers. */
export interface NetworkPlan {
  readonly networks: readonly PlannedNetwork[];
  readonly ports: readonly PlannedPort[];
  readonly routers: readonly PlannedRouter[];
  /** Rules of the ports' groups. */
  readonly rules: readonly SecurityGroupRule[];
  /** The addresses of all servers in the remote groups of the rules, by group. */
  readonly members: Readonly<Record<string, readonly string[]>>;
}

/** Hosts that share networks. */
export interface PlanHosts {
  /** The host of the plan. */
  readonly self: string;
  /** Hosts that can have routers: a router of any other host is moved. */
  readonly alive: readonly string[];
}

/**
 * Plans networks for drivers that build them. The embedded network service implements it; clients of remote services do
 * not.
 */
export interface NetworkPlans {
  /**
   * Returns the networks, routers and rules that the ports of these servers need. Shared networks of a preset, and
   * those of `auto`, have a router to external networks even if none was created; its id is the network's id.
   *
   * @param among set if servers of the same networks are on other hosts: each router then has a host, and the plan
   * includes what the routers of this host need for servers of the others
   */
  networkPlan(serverIds: readonly string[], among?: PlanHosts): Promise<NetworkPlan>;
  /**
   * Subscribes to changes of plans; the listener is called after the commit. Changes of other processes are not
   * reported.
   * @returns a function that unsubscribes
   */
  onNetworkChange(listener: () => void): () => void;
}
