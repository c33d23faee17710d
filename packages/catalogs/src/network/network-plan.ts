import type { Network, SecurityGroupRule, Subnet } from './network-catalog.js';
import type { ProviderSegment } from './provider-segment.js';

/**
 * An IPv6 address mode or router advertisement mode, as defined by the network service. Null if the mode is not set.
 */
export type Ipv6Mode = 'slaac' | 'dhcpv6-stateful' | 'dhcpv6-stateless' | null;

/** A subnet with its IPv6 address modes, for drivers that build networks. */
export interface PlannedSubnet extends Subnet {
  /** The mode in which guests receive IPv6 addresses. */
  readonly ipv6AddressMode: Ipv6Mode;
  /** The mode of router advertisements. */
  readonly ipv6RaMode: Ipv6Mode;
}

/** A network with its subnets, for drivers that build networks. */
export interface PlannedNetwork extends Network {
  /** The physical network segment. Missing or null for a network that exists only inside the cloud. */
  readonly provider?: ProviderSegment | null;
  /** The number that identifies the network in tunnels between hosts, from 1 to 2^24 - 1. */
  readonly segment: number;
  readonly subnets: readonly PlannedSubnet[];
}

/** A server's port, for drivers that build networks. */
export interface PlannedPort {
  readonly id: string;
  readonly networkId: string;
  readonly serverId: string;
  readonly mac: string;
  readonly adminStateUp: boolean;
  readonly addresses: readonly { readonly address: string; readonly version: 4 | 6; readonly subnetId: string }[];
  /** Whether the port's traffic is filtered. */
  readonly portSecurityEnabled: boolean;
  readonly securityGroupIds: readonly string[];
  /** Additional permitted source addresses: `ip_address` (an address or a CIDR) and optionally `mac_address`. */
  readonly allowedAddressPairs: readonly Readonly<Record<string, string>>[];
}

/** A router's connection to a network. */
export interface PlannedRouterInterface {
  /** The UUID of the router's port. */
  readonly id: string;
  readonly networkId: string;
  readonly mac: string;
  readonly addresses: readonly { readonly address: string; readonly version: 4 | 6; readonly subnetId: string }[];
}

/** A router that connects networks of a network plan. Contains only the connections that the plan needs. */
export interface PlannedRouter {
  readonly id: string;
  /** The host on which the router runs; null for the host that builds the plan. */
  readonly host: string | null;
  readonly adminStateUp: boolean;
  readonly interfaces: readonly PlannedRouterInterface[];
  /** Whether the router has an external gateway. */
  readonly external: boolean;
  /** The router's external addresses, which source NAT uses for guests without a floating IP. */
  readonly externalAddresses: readonly string[];
  readonly enableSnat: boolean;
  readonly floating: readonly { readonly address: string; readonly fixedAddress: string }[];
}

/** The networks, ports, routers and rules that a driver builds for a list of servers. */
export interface NetworkPlan {
  readonly networks: readonly PlannedNetwork[];
  readonly ports: readonly PlannedPort[];
  readonly routers: readonly PlannedRouter[];
  /** The rules of the ports' security groups. */
  readonly rules: readonly SecurityGroupRule[];
  /** The addresses of all servers in the security groups that the rules refer to as remote groups, by group id. */
  readonly members: Readonly<Record<string, readonly string[]>>;
}

/** The hosts that networks span. */
export interface PlanHosts {
  /** The host that builds the plan. */
  readonly self: string;
  /** The hosts on which routers can run. A router on any other host is moved. */
  readonly alive: readonly string[];
}

/** Returns the networks that drivers build on hosts. Only the embedded network service implements this interface. */
export interface NetworkPlans {
  /**
   * Returns the networks, routers and rules that the servers' ports need. Networks without a project and `auto`
   * networks have an implicit router to external networks if users have not created a router. The implicit router's id
   * is the network's id.
   *
   * @param hosts the hosts, if networks span several hosts. Each router then has a host, and the plan includes the
   * networks that this host's routers connect for servers on the other hosts.
   */
  networkPlan(serverIds: readonly string[], hosts?: PlanHosts): Promise<NetworkPlan>;
  /**
   * Subscribes to changes that can affect network plans. The listener is called after the commit of a change. Changes
   * by other processes are not reported.
   * @returns a function that unsubscribes
   */
  onNetworkChange(listener: () => void): () => void;
}
