import { Refusal, type RefusalCode } from '@apistrata/compute-engine';
import { CatalogError, type CatalogErrorCode } from '@apistrata/compute-engine/catalogs';

/** Runs a call of a catalog whose errors the old API told by another status than today's. */
export async function refusedAs<T>(
  codes: Readonly<Partial<Record<CatalogErrorCode, RefusalCode>>>,
  call: Promise<T>,
): Promise<T> {
  try {
    return await call;
  } catch (error) {
    const code = error instanceof CatalogError ? codes[error.code] : undefined;
    throw code ? new Refusal(code, (error as Error).message) : error;
  }
}
