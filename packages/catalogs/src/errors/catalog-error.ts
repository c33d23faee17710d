import { CodedError } from '@apistrata/record-store/errors';
import { type CatalogErrorCode, type CatalogErrorKind, catalogErrorKinds } from './catalog-error-codes.js';

export type { CatalogErrorCode, CatalogErrorKind };

const statuses: Readonly<Record<CatalogErrorKind, number>> = {
  'not-found': 404,
  conflict: 409,
  invalid: 400,
  forbidden: 403,
  'over-quota': 413,
  unavailable: 503,
};

/** The error class of all catalogs, embedded or remote. `code` is the precise cause, `kind` the category. */
export class CatalogError extends CodedError<CatalogErrorCode> {
  readonly kind: CatalogErrorKind;

  /** Its `status` is the one that image, network, volume and share services return. */
  constructor(code: CatalogErrorCode, message: string, options?: ErrorOptions) {
    const kind = catalogErrorKinds[code];
    super('catalogs', code, message, { ...options, status: statuses[kind] });
    this.kind = kind;
  }
}

/**
 * Returns undefined if a catalog has rejected a request, usually because a resource is missing; for use in `.catch()`. An
 * unavailable service is still an error.
 *
 * @example
 * ```ts
 * import { type Caller, type ImageCatalog, ifMissing } from '@apistrata/catalogs';
 *
 * const nameOf = async (images: ImageCatalog, caller: Caller, id: string) =>
 *   (await images.get(caller, id).catch(ifMissing))?.name;
 * ```
 */
export function ifMissing(error: unknown): undefined {
  if (error instanceof CatalogError && error.kind !== 'unavailable') return undefined;
  throw error;
}
