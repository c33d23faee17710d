import { CodedError } from '@apistrata/record-store/errors';
import { type CatalogErrorCode, type CatalogErrorKind, catalogErrorKinds } from './catalog-error-codes.js';

export type { CatalogErrorCode, CatalogErrorKind };

const statusByKind: Readonly<Record<CatalogErrorKind, number>> = {
  'not-found': 404,
  conflict: 409,
  invalid: 400,
  forbidden: 403,
  'over-quota': 413,
  unavailable: 503,
};

/** The error class of all built-in and remote catalogs. `code` is the exact cause, and `kind` is the category. */
export class CatalogError extends CodedError<CatalogErrorCode> {
  readonly kind: CatalogErrorKind;

  /** Creates an error with the HTTP `status` that image, network, volume and share services return for the code. */
  constructor(code: CatalogErrorCode, message: string, options?: ErrorOptions) {
    const kind = catalogErrorKinds[code];
    super('catalogs', code, message, { ...options, status: statusByKind[kind] });
    this.kind = kind;
  }
}

/**
 * Returns undefined if a catalog has rejected a request, usually because a resource does not exist. Rethrows all other
 * errors, such as that of an unavailable service. For use in `.catch()`.
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
