import type { Caller } from '../caller/caller.js';
import type { FixedIp } from './fixed-ip.js';

/** A network to which servers can be connected. */
export interface Network {
  /** The network's UUID. */
  readonly id: string;
  readonly name: string;
  readonly projectId: string;
  readonly adminStateUp: boolean;
  readonly status: string;
  /** Whether every project may use the network. */
  readonly shared: boolean;
  /** Whether the network is external. External networks provide floating IPs. */
  readonly external: boolean;
  readonly mtu: number;
  readonly subnetIds: readonly string[];
}

/** An address range of a network, and the settings for guests with these addresses. */
export interface Subnet {
  /** The subnet's UUID. */
  readonly id: string;
  readonly networkId: string;
  readonly ipVersion: 4 | 6;
  readonly cidr: string;
  readonly gatewayIp: string | null;
  readonly dnsNameservers: readonly string[];
  readonly hostRoutes: readonly { readonly destination: string; readonly nexthop: string }[];
  readonly enableDhcp: boolean;
}

/** The filters of a network list. A network must match all filters. */
export interface NetworkQuery {
  readonly ids?: readonly string[];
  readonly name?: string;
  readonly projectId?: string;
  readonly shared?: boolean;
  readonly external?: boolean;
}

/** The id and the name of a security group. */
export interface SecurityGroupName {
  readonly id: string;
  readonly name: string;
}

/** A network interface, which can be bound to a server. */
export interface Port {
  /** The port's UUID. */
  readonly id: string;
  readonly name: string;
  readonly projectId: string;
  readonly networkId: string;
  readonly networkName: string;
  readonly mac: string;
  readonly fixedIps: readonly FixedIp[];
  readonly securityGroups: readonly SecurityGroupName[];
  /** The port's status: `ACTIVE`, `DOWN` or `BUILD`. */
  readonly status: string;
  readonly adminStateUp: boolean;
  /** The id of the server to which the port is attached; an empty string if the port is not attached. */
  readonly deviceId: string;
  readonly deviceOwner: string;
  readonly hostId: string;
  /** Whether the port requests a bandwidth or packet rate, which only some hosts provide. */
  readonly hasResourceRequest: boolean;
  /** The type of network device that the port needs: `normal`, or a dedicated device such as `direct`. */
  readonly vnicType: string;
}

/** The filters of a port list. A port must match all filters. */
export interface PortQuery {
  readonly ids?: readonly string[];
  /** The ids of the servers to which the ports are attached. */
  readonly deviceIds?: readonly string[];
  readonly networkId?: string;
  /** The fixed address of the ports. */
  readonly address?: string;
}

/** The fields of a new port for a server. */
export interface NewPort {
  /**
   * A UUID chosen by the caller. A repeated call returns the same port. The embedded catalog uses the key as the id.
   */
  readonly key: string;
  readonly networkId: string;
  readonly projectId: string;
  readonly deviceId: string;
  readonly deviceOwner: string;
  /** The compute host to which the port is bound. An empty string leaves the port unbound. */
  readonly hostId: string;
  readonly name?: string;
  readonly mac?: string;
  /** The requested addresses. Default: one address per IP version of the network. */
  readonly addresses?: readonly string[];
  /** The security groups, by name or id. If omitted or empty, the port has the project's `default` group. */
  readonly securityGroups?: readonly string[];
}

/** A port's server and host. */
export interface PortBinding {
  readonly deviceId: string;
  readonly deviceOwner: string;
  readonly hostId: string;
}

/** A rule that allows traffic. Null stands for any protocol, port or address. */
export interface SecurityGroupRule {
  /** The rule's UUID. */
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
  /** The security group's UUID. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly projectId: string;
  readonly rules: readonly SecurityGroupRule[];
}

/** The filters of a security group list. A group must match all filters. */
export interface SecurityGroupQuery {
  readonly ids?: readonly string[];
  readonly name?: string;
  readonly projectId?: string;
}

/** The fields of a new security group rule. An omitted protocol, port or address matches all traffic. */
export type NewSecurityGroupRule = Partial<Omit<SecurityGroupRule, 'id'>> &
  Pick<SecurityGroupRule, 'securityGroupId' | 'direction'>;

/** An address on an external network that can be associated with a port. */
export interface FloatingIp {
  /** The floating IP's UUID. */
  readonly id: string;
  readonly address: string;
  readonly projectId: string;
  readonly networkId: string;
  /** The external network's name. */
  readonly pool: string;
  readonly portId: string | null;
  readonly fixedAddress: string | null;
  /** The id of the server to which the associated port is attached. */
  readonly deviceId: string | null;
  readonly status: string;
}

/** The filters of a floating IP list. A floating IP must match all filters. */
export interface FloatingIpQuery {
  readonly address?: string;
  readonly projectId?: string;
  readonly portId?: string;
}

/**
 * The catalog of networks, and of the ports, addresses, security groups and floating IPs that servers use. Every method
 * throws {@link CatalogError}. For resources that the caller may not see, the code is `..._NOT_FOUND`.
 */
export interface NetworkCatalog {
  listNetworks(caller: Caller, query?: NetworkQuery): Promise<readonly Network[]>;
  getNetwork(caller: Caller, id: string): Promise<Network>;
  getSubnet(caller: Caller, id: string): Promise<Subnet>;
  /** Returns the default networks for servers: the caller's own networks and shared networks. */
  availableNetworks(caller: Caller): Promise<readonly Network[]>;
  /**
   * Returns the network for servers that request the network `auto`, and creates this network if necessary. With
   * `dryRun`, the network is not created, and the result is null if the network would be created.
   *
   * @throws `NO_AUTO_NETWORK` if the network cannot be created
   */
  autoNetwork(caller: Caller, options?: { readonly dryRun?: boolean }): Promise<Network | null>;
  /**
   * Validates that a server can be connected to a network with the given addresses. Default: any free addresses.
   *
   * @throws `ADDRESS_NOT_IN_SUBNET`, `ADDRESS_IN_USE`, `NETWORK_WITHOUT_SUBNET`, `NO_FREE_ADDRESS`
   */
  checkAddresses(caller: Caller, networkId: string, addresses?: readonly string[]): Promise<void>;

  /**
   * Returns how many more ports the caller's project may create. The number is infinite if the service does not report
   * a limit. Without this method, the number is unlimited.
   */
  countFreePorts?(caller: Caller): Promise<number>;
  listPorts(caller: Caller, query: PortQuery): Promise<readonly Port[]>;
  getPort(caller: Caller, id: string): Promise<Port>;
  /** Creates either all ports or none, and returns the ports in the requested order. */
  createPorts(caller: Caller, ports: readonly NewPort[]): Promise<readonly Port[]>;
  /**
   * Binds an existing port to a server.
   *
   * @throws `PORT_IN_USE` if the port is attached to another server
   */
  bindPort(caller: Caller, id: string, binding: PortBinding): Promise<Port>;
  /** Binds all the server's ports to the host to which the server moves. An empty `hostId` unbinds the ports. */
  movePorts(caller: Caller, deviceId: string, hostId: string): Promise<void>;
  /**
   * Detaches ports from a server. The ports in `owned` are deleted, and the ports in `bound` are unbound. Missing ports
   * and ports of other servers are skipped.
   */
  releasePorts(
    caller: Caller,
    deviceId: string,
    ports: { readonly owned: readonly string[]; readonly bound: readonly string[] },
  ): Promise<void>;
  /**
   * Allocates another address for the server's port on a network.
   *
   * @throws `PORT_NOT_FOUND`, `NO_FREE_ADDRESS`
   */
  addFixedIp(caller: Caller, deviceId: string, networkId: string): Promise<Port>;
  /**
   * Releases one of the addresses of the server's ports.
   *
   * @throws `ADDRESS_NOT_FOUND` if none of the server's ports has the address
   */
  removeFixedIp(caller: Caller, deviceId: string, address: string): Promise<Port>;

  listSecurityGroups(caller: Caller, query?: SecurityGroupQuery): Promise<readonly SecurityGroup[]>;
  getSecurityGroup(caller: Caller, id: string): Promise<SecurityGroup>;
  /**
   * Finds security groups of the caller's project by id or name, and returns them in the requested order.
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
  /** Adds the security group to all the server's ports. Idempotent. */
  addSecurityGroup(caller: Caller, deviceId: string, nameOrId: string): Promise<void>;
  /**
   * Removes the security group from all the server's ports.
   *
   * @throws `SECURITY_GROUP_NOT_ASSOCIATED` if no port has the group
   */
  removeSecurityGroup(caller: Caller, deviceId: string, nameOrId: string): Promise<void>;

  listFloatingIpPools(caller: Caller): Promise<readonly Network[]>;
  listFloatingIps(caller: Caller, query?: FloatingIpQuery): Promise<readonly FloatingIp[]>;
  getFloatingIp(caller: Caller, id: string): Promise<FloatingIp>;
  /**
   * Allocates a floating IP in the caller's project.
   *
   * @param pool the external network's name or id; default: the default external network, or the only one
   */
  allocateFloatingIp(caller: Caller, pool?: string): Promise<FloatingIp>;
  releaseFloatingIp(caller: Caller, id: string): Promise<void>;
  /**
   * Associates the floating IP with one of the port's fixed addresses. Default: the port's first IPv4 address. Replaces
   * an existing association.
   */
  associateFloatingIp(
    caller: Caller,
    id: string,
    to: { readonly portId: string; readonly fixedAddress?: string },
  ): Promise<FloatingIp>;
  disassociateFloatingIp(caller: Caller, id: string): Promise<FloatingIp>;
}
