import { DocumentTable, type Stored } from '@apistrata/record-store';
import type { FloatingIp, Network, Port, SecurityGroup, SecurityGroupRule, Subnet } from '../network-catalog.js';
import type { Ipv6Mode } from '../network-plan.js';
import type { ProviderSegment } from '../provider-segment.js';

interface CommonFields {
  readonly description: string;
  readonly tags: readonly string[];
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A network record of the embedded catalog. */
export interface NetworkRecord extends Network, CommonFields, Stored {
  /** Whether new floating IPs without a pool come from this network. */
  readonly isDefault: boolean;
  /** Whether it was created because a server of the project requested the network `auto`. */
  readonly auto: boolean;
  /** Whether it was created because a caller used an unknown id. All callers may use it, but only by id. */
  readonly accepted: boolean;
  readonly portSecurityEnabled: boolean;
  /** Projects that may use the network although it is not shared with all. */
  readonly sharedWith?: readonly string[];
  /** Projects that see an external network; `*` stands for all. Missing or null: all. */
  readonly externalFor?: readonly string[] | null;
  /** Set by administrators. Missing or null: a network that exists only in the cloud. */
  readonly provider?: ProviderSegment | null;
}

/** A range of addresses, inclusive. */
export interface AddressRange {
  readonly start: string;
  readonly end: string;
}

/** A subnet record of the embedded catalog. */
export interface SubnetRecord extends Subnet, CommonFields, Stored {
  readonly name: string;
  readonly projectId: string;
  readonly allocationPools: readonly AddressRange[];
  readonly ipv6AddressMode: Ipv6Mode;
  readonly ipv6RaMode: Ipv6Mode;
  /** The kinds of devices, by `device_owner` of their ports, that get addresses from it. Missing or empty: all. */
  readonly serviceTypes?: readonly string[];
}

export interface PortRecord extends Omit<Port, 'networkName' | 'securityGroups'>, CommonFields, Stored {
  readonly securityGroupIds: readonly string[];
  readonly portSecurityEnabled: boolean;
  readonly dnsName: string;
  readonly allowedAddressPairs: readonly Readonly<Record<string, string>>[];
  readonly bindingProfile: Readonly<Record<string, unknown>>;
}

/** A router record of the embedded catalog. */
export interface RouterRecord extends CommonFields, Stored {
  readonly id: string;
  readonly name: string;
  readonly projectId: string;
  readonly adminStateUp: boolean;
  readonly externalNetworkId: string | null;
  readonly externalAddresses: readonly { readonly subnetId: string; readonly address: string }[];
  readonly enableSnat: boolean;
}

/** A floating IP record of the embedded catalog, with the subnet of the external network that contains its address. */
export type FloatingIpRecord = Omit<FloatingIp, 'pool'> & { readonly subnetId: string } & CommonFields & Stored;

/** A security group record of the embedded catalog; its rules are separate records. */
export type SecurityGroupRecord = Omit<SecurityGroup, 'rules'> & CommonFields & Stored;

export interface SecurityGroupRuleRecord extends SecurityGroupRule, Stored {
  readonly projectId: string;
  readonly createdAt: number;
}

interface Owned extends Stored {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
}

/** Columns that most tables share. */
const ownerColumns = { project_id: (r: { projectId: string }) => r.projectId, name: (r: { name: string }) => r.name };
const id = (record: Pick<Owned, 'id'>) => record.id;

/** Returns whether all projects see an external network. */
export const isExternalForAll = (externalFor: NetworkRecord['externalFor']) => externalFor?.includes('*') ?? true;

/** The `device_owner` of router ports. */
export const ROUTER_PORTS = 'network:router_interface';

/** The `device_owner` of router ports on external networks. */
export const GATEWAY_PORTS = 'network:router_gateway';

export const networkTables = {
  networks: new DocumentTable<NetworkRecord>({
    name: 'networks',
    key: id,
    columns: {
      ...ownerColumns,
      shared: (n) => n.shared,
      external: (n) => n.external,
      restricted: (n) => !isExternalForAll(n.externalFor),
    },
  }),
  subnets: new DocumentTable<SubnetRecord>({
    name: 'subnets',
    key: id,
    columns: { ...ownerColumns, network_id: (s) => s.networkId },
  }),
  ports: new DocumentTable<PortRecord>({
    name: 'ports',
    key: id,
    columns: { ...ownerColumns, network_id: (p) => p.networkId, device_id: (p) => p.deviceId, mac: (p) => p.mac },
  }),
  routers: new DocumentTable<RouterRecord>({ name: 'routers', key: id, columns: ownerColumns }),
  floatingIps: new DocumentTable<FloatingIpRecord>({
    name: 'floating_ips',
    key: id,
    columns: {
      project_id: (f) => f.projectId,
      network_id: (f) => f.networkId,
      port_id: (f) => f.portId,
      address: (f) => f.address,
    },
  }),
  securityGroups: new DocumentTable<SecurityGroupRecord>({ name: 'security_groups', key: id, columns: ownerColumns }),
  rules: new DocumentTable<SecurityGroupRuleRecord>({
    name: 'security_group_rules',
    key: id,
    columns: {
      project_id: (r) => r.projectId,
      group_id: (r) => r.securityGroupId,
      remote_group_id: (r) => r.remoteGroupId,
    },
  }),
} as const;
