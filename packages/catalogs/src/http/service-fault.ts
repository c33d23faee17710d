import { CatalogError, type CatalogErrorCode } from '../errors/catalog-error.js';

/** What the network service calls its errors, where that says more than the status. */
const named: Readonly<Record<string, CatalogErrorCode>> = {
  NetworkNotFound: 'NETWORK_NOT_FOUND',
  SubnetNotFound: 'SUBNET_NOT_FOUND',
  PortNotFound: 'PORT_NOT_FOUND',
  PortInUse: 'PORT_IN_USE',
  IpAddressInUse: 'ADDRESS_IN_USE',
  IpAddressAlreadyAllocated: 'ADDRESS_IN_USE',
  IpAddressGenerationFailure: 'NO_FREE_ADDRESS',
  IpAddressGenerationFailureNoMatchingSubnet: 'NO_FREE_ADDRESS',
  InvalidIpForNetwork: 'ADDRESS_NOT_IN_SUBNET',
  InvalidIpForSubnet: 'ADDRESS_NOT_IN_SUBNET',
  MacAddressInUse: 'MAC_IN_USE',
  OverQuota: 'OVER_QUOTA',
  SecurityGroupNotFound: 'SECURITY_GROUP_NOT_FOUND',
  SecurityGroupInUse: 'SECURITY_GROUP_IN_USE',
  SecurityGroupCannotRemoveDefault: 'SECURITY_GROUP_IN_USE',
  SecurityGroupRuleNotFound: 'SECURITY_GROUP_RULE_NOT_FOUND',
  SecurityGroupRuleExists: 'SECURITY_GROUP_RULE_EXISTS',
  FloatingIPNotFound: 'FLOATING_IP_NOT_FOUND',
  FloatingIPPortAlreadyAssociated: 'FLOATING_IP_IN_USE',
  ExternalGatewayForFloatingIPNotFound: 'FLOATING_IP_UNREACHABLE',
  AutoAllocationFailure: 'NO_AUTO_NETWORK',
  UnableToAutoAllocateNetwork: 'NO_AUTO_NETWORK',
};

/** What a status means when neither the service nor the request says more. */
const byStatus: Readonly<Record<number, CatalogErrorCode>> = {
  400: 'REFUSED',
  401: 'UNAVAILABLE',
  403: 'FORBIDDEN',
  413: 'OVER_QUOTA',
  429: 'UNAVAILABLE',
};

/** Quotas of the volume service are told by the text alone. */
const QUOTA_TEXT = /quota ?exceeded|exceeds? allowed .*quota|maximum number of .* exceeded|over ?limit/i;

function described(body: unknown): { readonly type?: string; readonly message?: string } {
  if (typeof body === 'string')
    return {
      message: body
        .replace(/<[^>]*>/g, ' ')
        .replace(/\s+/g, ' ')
        .trim(),
    };
  if (typeof body !== 'object' || body === null) return {};
  // One key whose value holds the message: NeutronError, itemNotFound, badRequest, overLimit, error, ...
  const [inner] = Object.values(body);
  if (typeof inner === 'string') return { message: inner };
  return typeof inner === 'object' && inner !== null ? (inner as { type?: string; message?: string }) : {};
}

/** Turns an error answer of any of the services into the catalogs' own error. */
export function errorOf(
  service: string,
  status: number,
  body: unknown,
  errors: Readonly<Record<number, CatalogErrorCode>>,
): CatalogError {
  const { type = '', message } = described(body);
  const overQuota = (status === 403 || status === 413) && QUOTA_TEXT.test(message ?? '') ? 'OVER_QUOTA' : undefined;
  const known = named[type] ?? overQuota ?? errors[status] ?? byStatus[status];
  const code = known ?? (status >= 500 ? 'UNAVAILABLE' : 'REFUSED');
  return new CatalogError(code, message || `The ${service} service answered ${status}.`);
}
