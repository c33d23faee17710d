import type {
  FloatingIpView,
  NetworkRecord,
  PortView,
  ProviderSegment,
  RouterRecord,
  SecurityGroup,
  SecurityGroupRecord,
  SecurityGroupRule,
  SubnetRecord,
} from '@apistrata/compute-engine/catalogs';
import { formatSeconds } from '../service/times.js';

interface DescribedRecord {
  readonly projectId: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly revision: number;
}

/** Returns the fields that the views of network resources share. */
function commonFields({ projectId, description, tags, createdAt, updatedAt, revision }: DescribedRecord) {
  return {
    tenant_id: projectId,
    project_id: projectId,
    description,
    tags,
    created_at: formatSeconds(createdAt),
    updated_at: formatSeconds(updatedAt),
    // The catalog's revision, which `networkStyle` replaces with a revision number.
    revision,
  };
}

/** Returns the implicit segment of a network without provider attributes. */
function defaultSegment({ external, seq }: NetworkRecord): ProviderSegment {
  if (external) return { networkType: 'flat', physicalNetwork: 'public', segmentationId: null };
  return { networkType: 'geneve', physicalNetwork: null, segmentationId: seq };
}

export function networkView(network: NetworkRecord) {
  const { networkType, physicalNetwork, segmentationId } = network.provider ?? defaultSegment(network);
  return {
    id: network.id,
    name: network.name,
    ...commonFields(network),
    admin_state_up: network.adminStateUp,
    status: network.status,
    subnets: network.subnetIds,
    shared: network.shared,
    'router:external': network.external,
    // As in Neutron, only external networks have this field.
    ...(network.external && { is_default: network.isDefault }),
    mtu: network.mtu,
    port_security_enabled: network.portSecurityEnabled,
    availability_zones: ['nova'],
    ipv4_address_scope: null,
    ipv6_address_scope: null,
    l2_adjacency: true,
    'provider:network_type': networkType,
    'provider:physical_network': physicalNetwork,
    'provider:segmentation_id': segmentationId,
  };
}

export function subnetView(subnet: SubnetRecord) {
  return {
    id: subnet.id,
    name: subnet.name,
    ...commonFields(subnet),
    network_id: subnet.networkId,
    ip_version: subnet.ipVersion,
    cidr: subnet.cidr,
    gateway_ip: subnet.gatewayIp,
    allocation_pools: subnet.allocationPools,
    dns_nameservers: subnet.dnsNameservers,
    host_routes: subnet.hostRoutes,
    enable_dhcp: subnet.enableDhcp,
    ipv6_address_mode: subnet.ipv6AddressMode,
    ipv6_ra_mode: subnet.ipv6RaMode,
    service_types: subnet.serviceTypes ?? [],
  };
}

/** The fields of a port that responses do not contain. */
type HiddenPortFields = 'hasResourceRequest' | 'networkName' | 'securityGroupIds' | 'seq';

export function portView(port: Omit<PortView, HiddenPortFields>) {
  return {
    id: port.id,
    name: port.name,
    ...commonFields(port),
    network_id: port.networkId,
    mac_address: port.mac,
    fixed_ips: port.fixedIps.map(({ subnetId, address }) => ({ subnet_id: subnetId, ip_address: address })),
    security_groups: port.securityGroups.map(({ id }) => id),
    status: port.status,
    admin_state_up: port.adminStateUp,
    device_id: port.deviceId,
    device_owner: port.deviceOwner,
    'binding:vnic_type': port.vnicType,
    port_security_enabled: port.portSecurityEnabled,
    dns_name: port.dnsName,
    // An address pair without a MAC address uses the port's MAC address.
    allowed_address_pairs: port.allowedAddressPairs.map((pair) => ({ mac_address: port.mac, ...pair })),
    'binding:host_id': port.hostId,
    'binding:profile': port.bindingProfile,
    'binding:vif_type': port.hostId ? 'ovs' : 'unbound',
    'binding:vif_details': port.hostId ? { port_filter: true } : {},
    ip_allocation: 'immediate',
    qos_network_policy_id: null,
    resource_request: null,
  };
}

export function routerView(router: RouterRecord) {
  return {
    id: router.id,
    name: router.name,
    ...commonFields(router),
    admin_state_up: router.adminStateUp,
    status: 'ACTIVE',
    external_gateway_info: router.externalNetworkId && {
      network_id: router.externalNetworkId,
      enable_snat: router.enableSnat,
      external_fixed_ips: router.externalAddresses.map(({ subnetId, address }) => ({
        subnet_id: subnetId,
        ip_address: address,
      })),
    },
    availability_zones: ['nova'],
  };
}

export function floatingIpView(floating: FloatingIpView, routerId: string | null, port: PortView | null) {
  return {
    id: floating.id,
    ...commonFields(floating),
    floating_ip_address: floating.address,
    floating_network_id: floating.networkId,
    fixed_ip_address: floating.fixedAddress,
    port_id: floating.portId,
    router_id: floating.portId && routerId,
    status: floating.status,
    port_details: port && {
      name: port.name,
      network_id: port.networkId,
      mac_address: port.mac,
      admin_state_up: port.adminStateUp,
      status: port.status,
      device_id: port.deviceId,
      device_owner: port.deviceOwner,
    },
  };
}

type RuleRecord = SecurityGroupRule & { readonly createdAt?: number; readonly projectId?: string };

export function ruleView(rule: RuleRecord, projectId = rule.projectId ?? '') {
  const timestamps =
    rule.createdAt === undefined
      ? {}
      : { created_at: formatSeconds(rule.createdAt), updated_at: formatSeconds(rule.createdAt) };
  return {
    id: rule.id,
    tenant_id: projectId,
    project_id: projectId,
    security_group_id: rule.securityGroupId,
    direction: rule.direction,
    ethertype: rule.ethertype,
    protocol: rule.protocol,
    port_range_min: rule.portMin,
    port_range_max: rule.portMax,
    remote_ip_prefix: rule.remoteCidr,
    remote_group_id: rule.remoteGroupId,
    remote_address_group_id: null,
    normalized_cidr: rule.remoteCidr,
    belongs_to_default_sg: false,
    description: rule.description,
    revision_number: 0,
    ...timestamps,
  };
}

export function securityGroupView(group: SecurityGroupRecord & SecurityGroup) {
  return {
    id: group.id,
    name: group.name,
    ...commonFields(group),
    shared: false,
    security_group_rules: group.rules.map((rule) => ruleView(rule, group.projectId)),
  };
}
