import type { Network, SecurityGroupRule, Subnet } from '../catalogs/network-catalog.js';

/** A network with its subnets. */
export interface PlannedNetwork extends Network {
  readonly subnets: readonly Subnet[];
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
}

/** What a network service tells drivers that build its networks. The embedded one does; clients of real services do not. */
export interface NetworkPlans {
  /**
   * Everything that has to do with the ports of these servers. Networks that a preset has for everybody, and those of `auto`,
   * have a router that leads outside even where nobody has made one; its id is that of the network.
   */
  networkPlan(serverIds: readonly string[]): Promise<NetworkPlan>;
  /**
   * Told, once it is durable, that a plan may be another one than before. Changes that other processes make are not told.
   * @returns ends that
   */
  onNetworkChange(listener: () => void): () => void;
}
