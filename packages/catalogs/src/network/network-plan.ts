import type { Network, SecurityGroupRule, Subnet } from './network-catalog.js';

/** How guests come to their addresses of version 6, or are told of them, as networks know it; null: nobody tells them. */
export type Ipv6Mode = 'slaac' | 'dhcpv6-stateful' | 'dhcpv6-stateless' | null;

/** A subnet, with how guests come to their addresses of version 6 in it. */
export interface PlannedSubnet extends Subnet {
  /** By whom addresses are given. */
  readonly ipv6AddressMode: Ipv6Mode;
  /** What routers announce. */
  readonly ipv6RaMode: Ipv6Mode;
}

/** A network with its subnets. */
export interface PlannedNetwork extends Network {
  /** Its number among all networks of the cloud, 1 to 2^24 - 1: what tunnels between hosts tell networks apart by. */
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
  /** False: whatever it sends and gets passes. */
  readonly portSecurityEnabled: boolean;
  readonly securityGroupIds: readonly string[];
  /** As users wrote them: `ip_address` (or a network) and perhaps `mac_address` from which the port may send too. */
  readonly allowedAddressPairs: readonly Readonly<Record<string, string>>[];
}

/** Where a router meets a network. */
export interface PlannedRouterInterface {
  /** UUID of the router's port. */
  readonly id: string;
  readonly networkId: string;
  readonly mac: string;
  readonly addresses: readonly { readonly address: string; readonly version: 4 | 6; readonly subnetId: string }[];
}

/** A router with what concerns the networks of a plan. */
export interface PlannedRouter {
  readonly id: string;
  /** The host that it is on; null: the one that the plan is for. */
  readonly host: string | null;
  readonly adminStateUp: boolean;
  readonly interfaces: readonly PlannedRouterInterface[];
  /** It leads outside. */
  readonly external: boolean;
  /** Its own addresses outside: what guests without a floating address send from, if it translates. */
  readonly externalAddresses: readonly string[];
  readonly enableSnat: boolean;
  readonly floating: readonly { readonly address: string; readonly fixedAddress: string }[];
}

/** What is to be built for some servers. */
export interface NetworkPlan {
  readonly networks: readonly PlannedNetwork[];
  readonly ports: readonly PlannedPort[];
  readonly routers: readonly PlannedRouter[];
  /** Rules of the ports' groups. */
  readonly rules: readonly SecurityGroupRule[];
  /** The addresses of all servers that are in the groups which rules name as their remote ones, by group. */
  readonly members: Readonly<Record<string, readonly string[]>>;
}

/** Hosts whose networks are one. */
export interface PlanHosts {
  /** The host that the plan is for. */
  readonly self: string;
  /** Those that can have routers: a router whose host is not among them gets another one. */
  readonly alive: readonly string[];
}

/** What a network service tells drivers that build its networks. The embedded one does; clients of real services do not. */
export interface NetworkPlans {
  /**
   * Everything that has to do with the ports of these servers. Networks that a preset has for everybody, and those of `auto`,
   * have a router that leads outside even where nobody has made one; its id is that of the network.
   *
   * @param among where servers of the same networks are on other hosts, too: each router has a host then, and the plan has
   *   what the routers of this host need for servers of the others
   */
  networkPlan(serverIds: readonly string[], among?: PlanHosts): Promise<NetworkPlan>;
  /**
   * Told, once it is durable, that a plan may be another one than before. Changes that other processes make are not told.
   * @returns ends that
   */
  onNetworkChange(listener: () => void): () => void;
}
