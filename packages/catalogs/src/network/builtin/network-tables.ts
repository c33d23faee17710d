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

/** A network record in the embedded catalog. */
export interface NetworkRecord extends Network, CommonFields, Stored {
  /** Whether floating IP requests that do not specify a pool receive addresses from this network. */
  readonly isDefault: boolean;
  /** Whether the network was created because a server of the project requested the network `auto`. */
  readonly auto: boolean;
  /** Whether the network was created for an unknown id. All callers may use the network, but only by id. */
  readonly accepted: boolean;
  readonly portSecurityEnabled: boolean;
  /** The projects that may use the network although it is not shared with all projects. */
  readonly sharedWith?: readonly string[];
  /** The projects that see an external network; `*` stands for all projects. Default: all projects. */
  readonly externalFor?: readonly string[] | null;
  /** The physical network segment, set by administrators. Missing or null for networks inside the cloud. */
  readonly provider?: ProviderSegment | null;
}

/** An inclusive range of IP addresses. */
export interface AddressRange {
  readonly start: string;
  readonly end: string;
}

/** A subnet record in the embedded catalog. */
export interface SubnetRecord extends Subnet, CommonFields, Stored {
  readonly name: string;
  readonly projectId: string;
  readonly allocationPools: readonly AddressRange[];
  readonly ipv6AddressMode: Ipv6Mode;
  readonly ipv6RaMode: Ipv6Mode;
  /** The `device_owner` values of the ports that may receive addresses from the subnet. Missing or empty: all ports. */
  readonly serviceTypes?: readonly string[];
}

export interface PortRecord extends Omit<Port, 'networkName' | 'securityGroups'>, CommonFields, Stored {
  readonly securityGroupIds: readonly string[];
  readonly portSecurityEnabled: boolean;
  readonly dnsName: string;
  readonly allowedAddressPairs: readonly Readonly<Record<string, string>>[];
  readonly bindingProfile: Readonly<Record<string, unknown>>;
}

/** A router record in the embedded catalog. */
export interface RouterRecord extends CommonFields, Stored {
  readonly id: string;
  readonly name: string;
  readonly projectId: string;
  readonly adminStateUp: boolean;
  readonly externalNetworkId: string | null;
  readonly externalAddresses: readonly { readonly subnetId: string; readonly address: string }[];
  readonly enableSnat: boolean;
}

/** A floating IP record in the embedded catalog. `subnetId` is the external subnet that contains the address. */
export type FloatingIpRecord = Omit<FloatingIp, 'pool'> & { readonly subnetId: string } & CommonFields & Stored;

/** A security group record in the embedded catalog. The rules are separate records. */
export type SecurityGroupRecord = Omit<SecurityGroup, 'rules'> & CommonFields & Stored;

export interface SecurityGroupRuleRecord extends SecurityGroupRule, Stored {
  readonly projectId: string;
  readonly createdAt: number;
}

interface OwnedRecord extends Stored {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
}

/** The columns that most network tables have in common. */
const ownerColumns = { project_id: (r: { projectId: string }) => r.projectId, name: (r: { name: string }) => r.name };
const id = (record: Pick<OwnedRecord, 'id'>) => record.id;

/** Returns whether an external network is visible to all projects. */
export const isExternalForAll = (externalFor: NetworkRecord['externalFor']) => externalFor?.includes('*') ?? true;

/** The `device_owner` of router ports on project networks. */
export const ROUTER_PORT_OWNER = 'network:router_interface';

/** The `device_owner` of router ports on external networks. */
export const GATEWAY_PORT_OWNER = 'network:router_gateway';

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
