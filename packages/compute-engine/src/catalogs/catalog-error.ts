/** What went wrong, coarsely: what decides between the API's 400, 403, 404, 409 and 503. */
export type CatalogErrorKind = 'not-found' | 'conflict' | 'invalid' | 'forbidden' | 'over-quota' | 'unavailable';

const kinds = {
  IMAGE_NOT_FOUND: 'not-found',
  IMAGE_MEMBER_NOT_FOUND: 'not-found',
  IMAGE_EXISTS: 'conflict',
  IMAGE_PROTECTED: 'forbidden',
  IMAGE_FORBIDDEN: 'forbidden',
  IMAGE_WRONG_STATUS: 'conflict',
  IMAGE_TOO_LARGE: 'over-quota',
  NETWORK_NOT_FOUND: 'not-found',
  NETWORK_IN_USE: 'conflict',
  NETWORK_FORBIDDEN: 'forbidden',
  NETWORK_WITHOUT_SUBNET: 'invalid',
  SUBNET_NOT_FOUND: 'not-found',
  SUBNET_IN_USE: 'conflict',
  SUBNET_INVALID: 'invalid',
  ROUTER_NOT_FOUND: 'not-found',
  ROUTER_IN_USE: 'conflict',
  PORT_NOT_FOUND: 'not-found',
  PORT_IN_USE: 'conflict',
  ADDRESS_IN_USE: 'conflict',
  ADDRESS_NOT_IN_SUBNET: 'invalid',
  ADDRESS_NOT_FOUND: 'not-found',
  NO_FREE_ADDRESS: 'conflict',
  MAC_IN_USE: 'conflict',
  NO_AUTO_NETWORK: 'invalid',
  SECURITY_GROUP_NOT_FOUND: 'not-found',
  SECURITY_GROUP_AMBIGUOUS: 'conflict',
  SECURITY_GROUP_IN_USE: 'conflict',
  SECURITY_GROUP_NOT_ASSOCIATED: 'not-found',
  SECURITY_GROUP_INVALID: 'invalid',
  SECURITY_GROUP_RULE_NOT_FOUND: 'not-found',
  SECURITY_GROUP_RULE_EXISTS: 'conflict',
  SECURITY_GROUP_RULE_INVALID: 'invalid',
  FLOATING_IP_NOT_FOUND: 'not-found',
  FLOATING_IP_AMBIGUOUS: 'conflict',
  FLOATING_IP_POOL_NOT_FOUND: 'not-found',
  FLOATING_IP_IN_USE: 'conflict',
  FLOATING_IP_UNREACHABLE: 'invalid',
  VOLUME_NOT_FOUND: 'not-found',
  VOLUME_WRONG_STATUS: 'invalid',
  VOLUME_INVALID: 'invalid',
  VOLUME_EXISTS: 'conflict',
  ATTACHMENT_NOT_FOUND: 'not-found',
  SNAPSHOT_NOT_FOUND: 'not-found',
  SNAPSHOT_WRONG_STATUS: 'invalid',
  VOLUME_TYPE_NOT_FOUND: 'not-found',
  VOLUME_TYPE_EXISTS: 'conflict',
  VOLUME_TYPE_IN_USE: 'conflict',
  SHARE_NOT_FOUND: 'not-found',
  SHARE_LOCKED: 'conflict',
  SHARE_WRONG_STATUS: 'conflict',
  MARKER_NOT_FOUND: 'invalid',
  REFUSED: 'invalid',
  FORBIDDEN: 'forbidden',
  OVER_QUOTA: 'over-quota',
  UNAVAILABLE: 'unavailable',
} as const satisfies Record<string, CatalogErrorKind>;

/** Exactly what went wrong; stable, so programs may compare it. */
export type CatalogErrorCode = keyof typeof kinds;

const statuses: Readonly<Record<CatalogErrorKind, number>> = {
  'not-found': 404,
  conflict: 409,
  invalid: 400,
  forbidden: 403,
  'over-quota': 413,
  unavailable: 503,
};

/** The one error of all catalogs, embedded or remote. `code` says exactly what, `kind` roughly what. */
export class CatalogError extends Error {
  override readonly name = 'CatalogError';
  readonly code: CatalogErrorCode;
  readonly kind: CatalogErrorKind;
  /** The HTTP status that image, network, volume and share services answer with. */
  readonly status: number;

  constructor(code: CatalogErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.kind = kinds[code];
    this.status = statuses[this.kind];
  }
}

/** For `.catch()`: nothing where there is no such thing for whoever asks. That a service is away stays an error. */
export function ifMissing(error: unknown): undefined {
  if (error instanceof CatalogError && error.kind !== 'unavailable') return undefined;
  throw error;
}
