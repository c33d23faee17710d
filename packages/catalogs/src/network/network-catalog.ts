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
  /** Usable by every project. */
  readonly shared: boolean;
  /** Leads outside; floating addresses come from it. */
  readonly external: boolean;
  readonly mtu: number;
  readonly subnetIds: readonly string[];
}

/** Addresses of a network, and what guests that have one of them need to know. */
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

/** Which networks are meant; everything given must hold. */
export interface NetworkQuery {
  readonly ids?: readonly string[];
  readonly name?: string;
  readonly projectId?: string;
  readonly shared?: boolean;
  readonly external?: boolean;
}

/** A security group, as those need it who only name it. */
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
  /** The server it belongs to; '' when none. */
  readonly deviceId: string;
  readonly deviceOwner: string;
  readonly hostId: string;
  /** It asks for bandwidth or packet rates, which only some hosts can give. */
  readonly hasResourceRequest: boolean;
  /** `normal` unless the port wants a device of its own (`direct`, ...). */
  readonly vnicType: string;
}

/** Which ports are meant; everything given must hold. */
export interface PortQuery {
  readonly ids?: readonly string[];
  /** Of any of these servers. */
  readonly deviceIds?: readonly string[];
  readonly networkId?: string;
}

/** A port to be made for a server. */
export interface NewPort {
  /** UUID chosen by the caller: the same call made twice gives the same port. The embedded catalog makes it the id. */
  readonly key: string;
  readonly networkId: string;
  readonly projectId: string;
  readonly deviceId: string;
  readonly deviceOwner: string;
  /** The compute host; '' leaves the port unbound. */
  readonly hostId: string;
  readonly name?: string;
  readonly mac?: string;
  /** Addresses asked for; left out: one of each IP version the network has. */
  readonly addresses?: readonly string[];
  /** Names or ids; left out or empty: the project's `default`. */
  readonly securityGroups?: readonly string[];
}

/** What a port is bound to: the server, and the host that it is on. */
export interface PortBinding {
  readonly deviceId: string;
  readonly deviceOwner: string;
  readonly hostId: string;
}

/** Traffic that a group lets pass. Null: any protocol, any port, any address. */
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

/** Which groups are meant; everything given must hold. */
export interface SecurityGroupQuery {
  readonly ids?: readonly string[];
  readonly name?: string;
  readonly projectId?: string;
}

/** A rule to be made; what is left out holds for everything. */
export type NewSecurityGroupRule = Partial<Omit<SecurityGroupRule, 'id'>> &
  Pick<SecurityGroupRule, 'securityGroupId' | 'direction'>;

/** An address of an external network that can be given to a port. */
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
  /** The server it leads to. */
  readonly deviceId: string | null;
  readonly status: string;
}

/** Which floating addresses are meant; everything given must hold. */
export interface FloatingIpQuery {
  readonly address?: string;
  readonly projectId?: string;
  readonly portId?: string;
}

/**
 * Networks, and the ports, addresses, security groups and floating addresses of servers.
 * Every method throws {@link CatalogError}; what the caller may not see is `..._NOT_FOUND`.
 */
export interface NetworkCatalog {
  listNetworks(caller: Caller, query?: NetworkQuery): Promise<readonly Network[]>;
  getNetwork(caller: Caller, id: string): Promise<Network>;
  getSubnet(caller: Caller, id: string): Promise<Subnet>;
  /** Where a server of the caller's project lands when it names no network: its own networks and shared ones. */
  availableNetworks(caller: Caller): Promise<readonly Network[]>;
  /**
   * The network made for a project that has none and asks for `auto`: made now unless it was before. With `dryRun` nothing is made and null says
   * that it would be. Throws `NO_AUTO_NETWORK` when it cannot be.
   */
  autoNetwork(caller: Caller, options?: { readonly dryRun?: boolean }): Promise<Network | null>;
  /**
   * Throws when a server cannot be put on that network, at these addresses or any: `ADDRESS_NOT_IN_SUBNET`,
   * `ADDRESS_IN_USE`, `NETWORK_WITHOUT_SUBNET`, `NO_FREE_ADDRESS`.
   */
  checkAddresses(caller: Caller, networkId: string, addresses?: readonly string[]): Promise<void>;

  /** How many more ports the caller's project may have. Left out, or infinite: as many as it likes. */
  freePorts?(caller: Caller): Promise<number>;
  listPorts(caller: Caller, query: PortQuery): Promise<readonly Port[]>;
  getPort(caller: Caller, id: string): Promise<Port>;
  /** All the ports of a server, or none of them. In the order asked for. */
  createPorts(caller: Caller, ports: readonly NewPort[]): Promise<readonly Port[]>;
  /** Gives an existing port to a server. Throws `PORT_IN_USE` when it belongs to another. */
  bindPort(caller: Caller, id: string, binding: PortBinding): Promise<Port>;
  /** Every port of the server now sits on that host (moves, evacuation, unshelving); '' on none. */
  movePorts(caller: Caller, deviceId: string, hostId: string): Promise<void>;
  /**
   * Takes ports from a server: those of `owned` are deleted, the others unbound. Ports that are gone or belong to
   * somebody else by now are passed over.
   */
  releasePorts(
    caller: Caller,
    deviceId: string,
    ports: { readonly owned: readonly string[]; readonly bound: readonly string[] },
  ): Promise<void>;
  /** One more address of that network on the server's port there. Throws `PORT_NOT_FOUND`, `NO_FREE_ADDRESS`. */
  addFixedIp(caller: Caller, deviceId: string, networkId: string): Promise<Port>;
  /** Throws `ADDRESS_NOT_FOUND`. */
  removeFixedIp(caller: Caller, deviceId: string, address: string): Promise<Port>;

  listSecurityGroups(caller: Caller, query?: SecurityGroupQuery): Promise<readonly SecurityGroup[]>;
  getSecurityGroup(caller: Caller, id: string): Promise<SecurityGroup>;
  /**
   * Groups of the caller's project by id or name, in the order asked for.
   * Throws `SECURITY_GROUP_NOT_FOUND`, `SECURITY_GROUP_AMBIGUOUS`.
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
  /** Adds the group to every port of the server; one that is there already changes nothing. */
  addSecurityGroup(caller: Caller, deviceId: string, nameOrId: string): Promise<void>;
  /** Throws `SECURITY_GROUP_NOT_ASSOCIATED` when no port of the server has it. */
  removeSecurityGroup(caller: Caller, deviceId: string, nameOrId: string): Promise<void>;

  listFloatingIpPools(caller: Caller): Promise<readonly Network[]>;
  listFloatingIps(caller: Caller, query?: FloatingIpQuery): Promise<readonly FloatingIp[]>;
  getFloatingIp(caller: Caller, id: string): Promise<FloatingIp>;
  /** @param pool name or id of an external network; the only or default one when left out */
  allocateFloatingIp(caller: Caller, pool?: string): Promise<FloatingIp>;
  releaseFloatingIp(caller: Caller, id: string): Promise<void>;
  /** Leads to that fixed address of the port (its first IPv4 one when left out); it may have led elsewhere before. */
  associateFloatingIp(
    caller: Caller,
    id: string,
    to: { readonly portId: string; readonly fixedAddress?: string },
  ): Promise<FloatingIp>;
  disassociateFloatingIp(caller: Caller, id: string): Promise<FloatingIp>;
}
