import { type Caller, CatalogError, type CatalogErrorCode, catalogErrorKinds } from '@apistrata/catalogs';
import type { DriverWork, WorkOrigin } from '../drivers/driver.js';
import type { MachineJob } from '../drivers/machines.js';
import { Rejection, type RejectionCode } from '../errors/rejection.js';

/**
 * A command for a host. It is stored, so that it outlives the processes at both ends, and is therefore plain data. The
 * server id is stored separately.
 */
export type MachineCall =
  | { readonly kind: 'perform'; readonly work: DriverWork; readonly origin: WorkOrigin; readonly job?: MachineJob }
  | { readonly kind: 'saveSnapshot'; readonly imageId: string; readonly caller: Caller; readonly job?: MachineJob }
  /** Removes remaining resources of a server that has left the host or is leaving it. */
  | { readonly kind: 'tidy' }
  | { readonly kind: 'cacheImages'; readonly imageIds: readonly string[] };

/** Returns the ids of the images that a request names, which the host may therefore read. */
export function imageIdsOf(call: MachineCall): readonly string[] {
  if (call.kind === 'cacheImages') return call.imageIds;
  if (call.kind === 'saveSnapshot') return [call.imageId];
  const imageId = call.kind === 'perform' && 'imageId' in call.work ? call.work.imageId : null;
  return imageId ? [imageId] : [];
}

/** The result of a request to a host: a value or an error. */
export type MachineCallResult = { readonly value: unknown } | { readonly error: SerializedError };

/** A serialized error. */
interface SerializedError {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
  readonly code?: string;
}

/** Returns the result of a request that failed. */
export function failedResult(error: unknown): MachineCallResult {
  const { name, message, stack, code }: SerializedError = error instanceof Error ? error : new Error(String(error));
  return { error: { name, message, stack, ...(typeof code === 'string' && { code }) } };
}

const REJECTION_CODES: Readonly<Record<RejectionCode, true>> = {
  BAD_REQUEST: true,
  FORBIDDEN: true,
  NOT_FOUND: true,
  CONFLICT: true,
  NOT_SUPPORTED: true,
};

const isRejectionCode = (code: string): code is RejectionCode => Object.hasOwn(REJECTION_CODES, code);
const isCatalogErrorCode = (code: string): code is CatalogErrorCode => Object.hasOwn(catalogErrorKinds, code);

/**
 * Recreates an error. Rejections and catalog errors regain their class; other errors keep their name, message and code.
 */
function restoreError({ name, message, code }: SerializedError): Error {
  if (code === undefined) return Object.assign(new Error(message), { name });
  if (isRejectionCode(code)) return new Rejection(code, message);
  return isCatalogErrorCode(code) ? new CatalogError(code, message) : Object.assign(new Error(message), { name, code });
}

/** Returns the value of a result, or throws the host's error. */
export function resultValue(result: MachineCallResult): unknown {
  if ('value' in result) return result.value;
  const error = restoreError(result.error);
  if (result.error.stack !== undefined) error.stack = result.error.stack;
  throw error;
}
