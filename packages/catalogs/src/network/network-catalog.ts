import type { Caller } from '../caller/caller.js';
import type { FixedIp } from './fixed-ip.js';

/** A network as servers see it. */
export interface Network {
  /** UUID. */
  readonly id: string;
  readonly name: string;
  readonly projectId: string;
  readonly adminStateUp: boolean;
  readonly status: string;
  /** Whether every project may use it. */
  readonly shared: boolean;
  /** Whether it is an external network, which provides floating IPs. */
  readonly external: boolean;
  readonly mtu: number;
  readonly subnetIds: readonly string[];
}

/** Addresses of a network, and the settings for guests that use them. */
export interface Subnet {
  /** UUID. */
  readonly id: string;
  readonly networkId: string;
  readonly ipVersion: 4 | 6;
  readonly cidr: string;
  readonly gatewayIp: string | null;
  readonly dnsNameservers: readonly string[];
  readonly hostRoutes: readonly { readonly destination: string; readonly nexthop: string }[];
  readonly enableDhcp: boolean;
}

/** Filters of networks; all given ones must match. */
export interface NetworkQuery {
  readonly ids?: readonly string[];
  readonly name?: string;
  readonly projectId?: string;
  readonly shared?: boolean;
  readonly external?: boolean;
}

/** Id and name of a security group. */
export interface SecurityGroupName {
  readonly id: string;
  readonly name: string;
}

/** A network interface, bound to a server or not. */
export interface Port {
  /** UUID. */
  readonly id: string;
  readonly name: string;
  readonly projectId: string;
  readonly networkId: string;
  readonly networkName: string;
  readonly mac: string;
  readonly fixedIps: readonly FixedIp[];
  readonly securityGroups: readonly SecurityGroupName[];
  /** `ACTIVE`, `DOWN` or `BUILD`. */
  readonly status: string;
  readonly adminStateUp: boolean;
  /** The server of the port; '' if there is none. */
  readonly deviceId: string;
  readonly deviceOwner: string;
  readonly hostId: string;
  /** Whether it requests bandwidth or packet rates, which only some hosts provide. */
  readonly hasResourceRequest: boolean;
  /** `normal` unless the port needs a dedicated device (`direct`, ...). */
  readonly vnicType: string;
}

/** Filters of ports; all given ones must match. */
export interface PortQuery {
  readonly ids?: readonly string[];
  /** Ports of any of these servers. */
  readonly deviceIds?: readonly string[];
  readonly networkId?: string;
  /** Ports with this fixed address. */
  readonly address?: string;
}

/** Fields of a new port for a server. */
export interface NewPort {
  /** UUID chosen by the caller: a repeated call returns the same port. The embedded catalog uses it as the id. */
  readonly key: string;
  readonly networkId: string;
  readonly projectId: string;
  readonly deviceId: string;
  readonly deviceOwner: string;
  /** The compute host; '' leaves the port unbound. */
  readonly hostId: string;
  readonly name?: string;
  readonly mac?: string;
  /** Requested addresses. Default: one of each IP version of the network. */
  readonly addresses?: readonly string[];
  /** Names or ids. Default, even if empty: the project's `default`. */
  readonly securityGroups?: readonly string[];
}

/** The binding of a port: its server and host. */
export interface PortBinding {
  readonly deviceId: string;
  readonly deviceOwner: string;
  readonly hostId: string;
}

/** Traffic that a group allows. Null: any protocol, port or address. */
export interface SecurityGroupRule {
  /** UUID. */
  readonly id: string;
  readonly securityGroupId: string;
  readonly direction: 'ingress' | 'egress';
  readonly ethertype: 'IPv4' | 'IPv6';
  readonly protocol: string | null;
  readonly portMin: number | null;
  readonly portMax: number | null;
  readonly remoteCidr: string | null;
  readonly remoteGroupId: string | null;
  readonly description: string;
}

/** A security group with its rules. */
export interface SecurityGroup {
  /** UUID. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly projectId: string;
  readonly rules: readonly SecurityGroupRule[];
}

/** Filters of security groups; all given ones must match. */
export interface SecurityGroupQuery {
  readonly ids?: readonly string[];
  readonly name?: string;
  readonly projectId?: string;
}

/** Fields of a new rule; omitted fields match everything. */
export type NewSecurityGroupRule = Partial<Omit<SecurityGroupRule, 'id'>> &
  Pick<SecurityGroupRule, 'securityGroupId' | 'direction'>;

/** An address of an external network that can be associated with a port. */
export interface FloatingIp {
  /** UUID. */
  readonly id: string;
  readonly address: string;
  readonly projectId: string;
  readonly networkId: string;
  /** Name of the external network. */
  readonly pool: string;
  readonly portId: string | null;
  readonly fixedAddress: string | null;
  /** The server of the associated port. */
  readonly deviceId: string | null;
  readonly status: string;
}

/** Filters of floating IPs; all given ones must match. */
export interface FloatingIpQuery {
  readonly address?: string;
  readonly projectId?: string;
  readonly portId?: string;
}

/**
 * Networks, and the ports, addresses, security groups and floating IPs of servers. Every method throws {@link
 * CatalogError}; for resources that the caller may not see, the code is `..._NOT_FOUND`.
 */
export interface NetworkCatalog {
  listNetworks(caller: Caller, query?: NetworkQuery): Promise<readonly Network[]>;
  getNetwork(caller: Caller, id: string): Promise<Network>;
  getSubnet(caller: Caller, id: string): Promise<Subnet>;
  /**
   * Returns the networks for a server that specifies none: the networks of the caller's project and shared ones.
   */
  availableNetworks(caller: Caller): Promise<readonly Network[]>;
  /**
   * Returns the network of `auto` for a project without networks; creates it if necessary. With `dryRun`, nothing is
   * created, and null means that a network would be.
   *
   * @throws `NO_AUTO_NETWORK` if it cannot be created
   */
  autoNetwork(caller: Caller, options?: { readonly dryRun?: boolean }): Promise<Network | null>;
  /**
   * Checks that a server can be connected to a network, with these addresses or any.
   *
   * @throws `ADDRESS_NOT_IN_SUBNET`, `ADDRESS_IN_USE`, `NETWORK_WITHOUT_SUBNET`, `NO_FREE_ADDRESS`
   */
  checkAddresses(caller: Caller, networkId: string, addresses?: readonly string[]): Promise<void>;

  /** Returns how many more ports the caller's project may have. Omitted, or infinite: no limit. */
  freePorts?(caller: Caller): Promise<number>;
  listPorts(caller: Caller, query: PortQuery): Promise<readonly Port[]>;
  getPort(caller: Caller, id: string): Promise<Port>;
  /** Creates all the ports of a server, or none, in the requested order. */
  createPorts(caller: Caller, ports: readonly NewPort[]): Promise<readonly Port[]>;
  /**
   * Binds an existing port to a server.
   *
   * @throws `PORT_IN_USE` if it belongs to another server
   */
  bindPort(caller: Caller, id: string, binding: PortBinding): Promise<Port>;
  /** Binds every port of the server to another host (moves, evacuation, unshelving); '' to none. */
  movePorts(caller: Caller, deviceId: string, hostId: string): Promise<void>;
  /**
   * Detaches ports from a server: the ports in `owned` are deleted, the others unbound. Missing ports and ports of other
   * servers are skipped.
   */
  releasePorts(
    caller: Caller,
    deviceId: string,
    ports: { readonly owned: readonly string[]; readonly bound: readonly string[] },
  ): Promise<void>;
  /**
   * Adds an address of a network to the server's port there.
   *
   * @throws `PORT_NOT_FOUND`, `NO_FREE_ADDRESS`
   */
  addFixedIp(caller: Caller, deviceId: string, networkId: string): Promise<Port>;
  /**
   * Removes an address from the server's ports.
   *
   * @throws `ADDRESS_NOT_FOUND`
   */
  removeFixedIp(caller: Caller, deviceId: string, address: string): Promise<Port>;

  listSecurityGroups(caller: Caller, query?: SecurityGroupQuery): Promise<readonly SecurityGroup[]>;
  getSecurityGroup(caller: Caller, id: string): Promise<SecurityGroup>;
  /**
   * Finds groups of the caller's project by id or name, in the requested order.
   *
   * @throws `SECURITY_GROUP_NOT_FOUND`, `SECURITY_GROUP_AMBIGUOUS`
   */
  resolveSecurityGroups(caller: Caller, namesOrIds: readonly string[]): Promise<readonly SecurityGroupName[]>;
  createSecurityGroup(
    caller: Caller,
    group: { readonly name: string; readonly description?: string },
  ): Promise<SecurityGroup>;
  updateSecurityGroup(
    caller: Caller,
    id: string,
    change: { readonly name?: string; readonly description?: string },
  ): Promise<SecurityGroup>;
  deleteSecurityGroup(caller: Caller, id: string): Promise<void>;
  createSecurityGroupRule(caller: Caller, rule: NewSecurityGroupRule): Promise<SecurityGroupRule>;
  deleteSecurityGroupRule(caller: Caller, id: string): Promise<void>;
  /** Adds the group to every port of the server. Idempotent. */
  addSecurityGroup(caller: Caller, deviceId: string, nameOrId: string): Promise<void>;
  /**
   * Removes the group from every port of the server.
   *
   * @throws `SECURITY_GROUP_NOT_ASSOCIATED` if no port has it
   */
  removeSecurityGroup(caller: Caller, deviceId: string, nameOrId: string): Promise<void>;

  listFloatingIpPools(caller: Caller): Promise<readonly Network[]>;
  listFloatingIps(caller: Caller, query?: FloatingIpQuery): Promise<readonly FloatingIp[]>;
  getFloatingIp(caller: Caller, id: string): Promise<FloatingIp>;
  /** @param pool name or id of an external network; default: the only or default one */
  allocateFloatingIp(caller: Caller, pool?: string): Promise<FloatingIp>;
  releaseFloatingIp(caller: Caller, id: string): Promise<void>;
  /**
   * Associates the floating IP with a fixed address of the port (default: its first IPv4 one); replaces an earlier
   * association.
   */
  associateFloatingIp(
    caller: Caller,
    id: string,
    to: { readonly portId: string; readonly fixedAddress?: string },
  ): Promise<FloatingIp>;
  disassociateFloatingIp(caller: Caller, id: string): Promise<FloatingIp>;
}
