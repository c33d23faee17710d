import { Rejection, type RejectionCode } from '@apistrata/compute-engine';
import { CatalogError, type CatalogErrorCode } from '@apistrata/compute-engine/catalogs';

/** Awaits a catalog call, and converts errors that have other statuses in this API. */
export async function rejectedAs<T>(
  codes: Readonly<Partial<Record<CatalogErrorCode, RejectionCode>>>,
  call: Promise<T>,
): Promise<T> {
  try {
    return await call;
  } catch (error) {
    const code = error instanceof CatalogError ? codes[error.code] : undefined;
    throw code ? new Rejection(code, (error as Error).message) : error;
  }
}
