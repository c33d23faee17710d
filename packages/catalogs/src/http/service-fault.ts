import { CatalogError, type CatalogErrorCode } from '../errors/catalog-error.js';

/** Error codes by Neutron error type, which is more specific than the HTTP status. */
const CODES_BY_TYPE: Readonly<Record<string, CatalogErrorCode>> = {
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

/** The default error codes by HTTP status. */
const CODES_BY_STATUS: Readonly<Record<number, CatalogErrorCode>> = {
  400: 'REJECTED',
  401: 'UNAVAILABLE',
  403: 'FORBIDDEN',
  413: 'OVER_QUOTA',
  429: 'UNAVAILABLE',
};

/** Matches messages about an exceeded quota. Cinder reports an exceeded quota only in the message. */
const QUOTA_MESSAGE = /quota ?exceeded|exceeds? allowed .*quota|maximum number of .* exceeded|over ?limit/i;

function parseFault(body: unknown): { readonly type?: string; readonly message?: string } {
  if (typeof body === 'string')
    return {
      message: body
        .replace(/<[^>]*>/g, ' ')
        .replace(/\s+/g, ' ')
        .trim(),
    };
  if (typeof body !== 'object' || body === null) return {};
  // The body is an object with a single key, such as NeutronError, itemNotFound, badRequest, overLimit or error. The
  // value of that key contains the message.
  const [innerValue] = Object.values(body);
  if (typeof innerValue === 'string') return { message: innerValue };
  return typeof innerValue === 'object' && innerValue !== null
    ? (innerValue as { type?: string; message?: string })
    : {};
}

/** Converts a service's error response to a catalog error. */
export function toCatalogError(
  service: string,
  status: number,
  body: unknown,
  errors: Readonly<Record<number, CatalogErrorCode>>,
): CatalogError {
  const { type = '', message } = parseFault(body);
  const quotaCode = (status === 403 || status === 413) && QUOTA_MESSAGE.test(message ?? '') ? 'OVER_QUOTA' : undefined;
  const specificCode = CODES_BY_TYPE[type] ?? quotaCode ?? errors[status] ?? CODES_BY_STATUS[status];
  const code = specificCode ?? (status >= 500 ? 'UNAVAILABLE' : 'REJECTED');
  return new CatalogError(code, message || `The ${service} service returned ${status}.`);
}
