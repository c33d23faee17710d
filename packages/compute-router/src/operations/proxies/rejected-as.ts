import { Rejection, type RejectionCode } from '@apistrata/compute-engine';
import { CatalogError, type CatalogErrorCode } from '@apistrata/compute-engine/catalogs';

/** Awaits a request to another service, and converts errors for which this API returns a different status. */
export async function withRejectionCodes<T>(
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
