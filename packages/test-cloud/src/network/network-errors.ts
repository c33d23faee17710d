import type { CatalogError, CatalogErrorCode } from '@apistrata/compute-engine/catalogs';
import { ServiceError } from '../service/service-error.js';

/** The network service's error types, with their HTTP statuses. */
export const ERROR_STATUSES = {
  AddressGroupInUse: 409,
  AddressPairAndPortSecurityRequired: 409,
  AddressGroupNotFound: 404,
  AddressScopeInUse: 409,
  AddressScopeNotFound: 404,
  AddressScopePrefixConflict: 409,
  AddressScopeUpdateError: 400,
  AddressesAlreadyExist: 400,
  AddressesNotFound: 404,
  AgentNotFound: 404,
  AllocationOnAutoAddressSubnet: 400,
  AutoAllocationFailure: 409,
  BadRequest: 400,
  BgpPeerNotFound: 404,
  BgpSpeakerNotFound: 404,
  Conflict: 409,
  ConntrackHelperNotAllowed: 400,
  ConntrackHelperNotFound: 404,
  DefaultSecurityGroupRuleNotFound: 404,
  DuplicateRbacPolicy: 409,
  DuplicateSubPort: 409,
  ExternalGatewayForFloatingIPNotFound: 404,
  ExternalIpAddressExhausted: 400,
  FipInUseByPortForwarding: 409,
  FlatNetworkInUse: 409,
  FlavorInUse: 409,
  FlavorNotFound: 404,
  FlavorServiceProfileBindingExists: 409,
  FlavorServiceProfileBindingNotFound: 404,
  FloatingIPNotFound: 404,
  FloatingIPPortAlreadyAssociated: 409,
  GatewayConflictWithAllocationPools: 409,
  GatewayIpInUse: 409,
  HTTPBadRequest: 400,
  HTTPConflict: 409,
  HTTPForbidden: 403,
  HTTPInternalServerError: 500,
  HTTPNotFound: 404,
  HTTPNotImplemented: 501,
  HTTPRequestEntityTooLarge: 413,
  HTTPServiceUnavailable: 503,
  HTTPUnauthorized: 401,
  IllegalSubnetPoolIpVersionAssociationToAddressScope: 400,
  IllegalSubnetPoolPrefixUpdate: 400,
  IllegalSubnetPoolUpdate: 400,
  InvalidAllocationPool: 400,
  InvalidInput: 400,
  InvalidIpForNetwork: 400,
  InvalidIpForSubnet: 400,
  InvalidProtocolForHelper: 400,
  InvalidRoutes: 400,
  InvalidServiceType: 400,
  IpAddressAlreadyAllocated: 409,
  IpAddressGenerationFailure: 409,
  IpAddressInUse: 409,
  MacAddressInUse: 409,
  MeteringLabelNotFound: 404,
  MeteringLabelRuleNotFound: 404,
  MinPrefixSubnetAllocationError: 400,
  NetworkInUse: 409,
  NetworkMTUSubnetConflict: 409,
  NetworkNotFound: 404,
  NetworkSegmentRangeNotFound: 404,
  NetworkSegmentRangeOverlaps: 409,
  NetworkSegmentRangeReferencedByProject: 409,
  NetworkSubnetPoolAffinityError: 400,
  NotAuthorized: 403,
  OutOfBoundsAllocationPool: 400,
  OverQuota: 409,
  ParentPortInUse: 409,
  PolicyNotAuthorized: 403,
  PortForwardingNotFound: 404,
  PortHasBindingFloatingIP: 409,
  PortInUse: 409,
  PortInUseAsSubPort: 409,
  PortInUseAsTrunkParent: 409,
  PortNotFound: 404,
  PortSecurityAndIPRequiredForSecurityGroups: 400,
  PortSecurityPortHasSecurityGroup: 409,
  PrefixVersionMismatch: 400,
  QoSPolicyDefaultAlreadyExists: 409,
  QoSRulesConflict: 409,
  QosPolicyInUse: 409,
  QosPolicyNotFound: 404,
  QosRuleNotFound: 404,
  RbacPolicyInUse: 409,
  RbacPolicyNotFound: 404,
  RevisionNumberConstraintFailed: 412,
  RouterExternalGatewayInUseByFloatingIp: 409,
  RouterInUse: 409,
  RouterInterfaceInUseByFloatingIP: 409,
  RouterInterfaceNotFound: 404,
  RouterInterfaceNotFoundForSubnet: 404,
  RouterNotFound: 404,
  SecurityGroupCannotRemoveDefault: 409,
  SecurityGroupCannotUpdateDefault: 409,
  SecurityGroupConflict: 409,
  SecurityGroupDefaultAlreadyExists: 409,
  SecurityGroupEthertypeConflictWithProtocol: 400,
  SecurityGroupInUse: 409,
  SecurityGroupInvalidIcmpValue: 400,
  SecurityGroupInvalidPortRange: 400,
  SecurityGroupInvalidProtocolForPort: 400,
  SecurityGroupInvalidPortValue: 400,
  SecurityGroupMissingIcmpType: 400,
  SecurityGroupMultipleRemoteEntites: 400,
  SecurityGroupNotFound: 404,
  SecurityGroupProtocolRequiredWithPorts: 400,
  SecurityGroupRuleExists: 409,
  SecurityGroupRuleInvalidProtocol: 400,
  SecurityGroupRuleNotFound: 404,
  SecurityGroupRuleParameterConflict: 400,
  SegmentInUse: 409,
  SegmentNotFound: 404,
  ServicePortInUse: 409,
  ServiceProfileEmpty: 400,
  ServiceProfileInUse: 409,
  ServiceProfileNotFound: 404,
  ServiceUnavailable: 503,
  SubPortMtuGreaterThanTrunkPortMtu: 409,
  SubPortNotFound: 404,
  SubnetAllocationError: 409,
  SubnetInUse: 409,
  SubnetNotFound: 404,
  SubnetPoolDeleteError: 400,
  SubnetPoolNotFound: 404,
  TagNotFound: 404,
  TapMirrorNotFound: 404,
  TenantQuotaNotFound: 404,
  TrunkDisabled: 409,
  TrunkInUse: 409,
  TrunkNotFound: 404,
  TrunkPortInUse: 409,
  TunnelIdInUse: 409,
  VlanIdInUse: 409,
} as const satisfies Readonly<Record<string, number>>;

/** The name of a network service error type. */
export type NetworkErrorType = keyof typeof ERROR_STATUSES;

/**
 * Maps catalog error codes to error types. A code that is not listed has the error type with the same words
 * (`PortInUse` for `PORT_IN_USE`) or, if that type does not exist, the general type for its status.
 */
const CATALOG_ERROR_TYPES: Partial<Readonly<Record<CatalogErrorCode, NetworkErrorType>>> = {
  ADDRESS_IN_AUTO_SUBNET: 'AllocationOnAutoAddressSubnet',
  ADDRESS_IN_USE: 'IpAddressAlreadyAllocated',
  ADDRESS_NOT_IN_SUBNET: 'InvalidIpForNetwork',
  FLOATING_IP_IN_USE: 'FloatingIPPortAlreadyAssociated',
  FLOATING_IP_POOL_NOT_FOUND: 'NetworkNotFound',
  FLOATING_IP_UNREACHABLE: 'BadRequest',
  FLOATING_IP_WITHOUT_ROUTE: 'ExternalGatewayForFloatingIPNotFound',
  FORBIDDEN: 'PolicyNotAuthorized',
  MAC_IN_USE: 'MacAddressInUse',
  NETWORK_FORBIDDEN: 'PolicyNotAuthorized',
  NO_AUTO_NETWORK: 'AutoAllocationFailure',
  NO_FREE_ADDRESS: 'IpAddressGenerationFailure',
  PORT_OF_SERVICE: 'ServicePortInUse',
  PORT_SECURITY_IN_USE: 'PortSecurityPortHasSecurityGroup',
  PORT_SECURITY_OFF_WITH_GROUPS: 'PortSecurityAndIPRequiredForSecurityGroups',
  PORT_SECURITY_OFF_WITH_PAIRS: 'AddressPairAndPortSecurityRequired',
  ROUTER_GATEWAY_IN_USE: 'RouterExternalGatewayInUseByFloatingIp',
  ROUTER_INTERFACE_IN_USE: 'RouterInterfaceInUseByFloatingIP',
  ROUTER_INTERFACE_INVALID: 'BadRequest',
  SECURITY_GROUP_DEFAULT: 'SecurityGroupCannotUpdateDefault',
  SECURITY_GROUP_DEFAULT_EXISTS: 'SecurityGroupDefaultAlreadyExists',
  SECURITY_GROUP_DEFAULT_IN_USE: 'SecurityGroupCannotRemoveDefault',
  SUBNET_INVALID: 'InvalidInput',
  UNAVAILABLE: 'ServiceUnavailable',
};

/** The error types that Neutron's web framework creates, by HTTP status. */
const GENERAL_TYPES: Readonly<Record<number, NetworkErrorType>> = {
  400: 'HTTPBadRequest',
  401: 'HTTPUnauthorized',
  403: 'HTTPForbidden',
  404: 'HTTPNotFound',
  409: 'HTTPConflict',
  413: 'HTTPRequestEntityTooLarge',
  501: 'HTTPNotImplemented',
  503: 'HTTPServiceUnavailable',
};

const TYPES_BY_LOWER_CASE = new Map(
  Object.keys(ERROR_STATUSES).map((type) => [type.toLowerCase(), type as NetworkErrorType]),
);

/** Returns an error of the given type, with the HTTP status of this type. */
export function networkError(type: NetworkErrorType, message: string): ServiceError {
  return new ServiceError(ERROR_STATUSES[type], message, type);
}

/** Returns a 404 error for a missing resource. `title` determines the type: `QosPolicyNotFound` for `QoS policy`. */
export function missingResource(title: string, id: string): ServiceError {
  const type = TYPES_BY_LOWER_CASE.get(`${title.replaceAll(' ', '')}NotFound`.toLowerCase()) ?? 'HTTPNotFound';
  return networkError(type, `${title} ${id} could not be found.`);
}

/** Converts a catalog error to the error that the network service returns. */
export function fromCatalogError({ code, status = 400, message }: CatalogError): ServiceError {
  const typeWithSameWords = TYPES_BY_LOWER_CASE.get(code.replaceAll('_', '').toLowerCase());
  const type = CATALOG_ERROR_TYPES[code] ?? typeWithSameWords ?? GENERAL_TYPES[status] ?? 'HTTPBadRequest';
  return networkError(type, message);
}

/**
 * Returns an error's response body. A type that is not defined for the error's status is replaced with a general type.
 */
export function networkFault({ type, status, message }: ServiceError): { readonly NeutronError: object } {
  const isDefined = Object.hasOwn(ERROR_STATUSES, type) && ERROR_STATUSES[type as NetworkErrorType] === status;
  const definedType = isDefined ? type : (GENERAL_TYPES[status] ?? 'HTTPInternalServerError');
  return { NeutronError: { type: definedType, message, detail: '' } };
}
