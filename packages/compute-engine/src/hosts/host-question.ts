import { type Caller, CatalogError, type CatalogErrorCode, catalogErrorKinds } from '@apistrata/catalogs';
import type { DriverVerb, DriverWork, WorkOrigin } from '../drivers/driver.js';
import type { HostPowerAction } from '../drivers/host-control.js';
import type { MachineJob } from '../drivers/machines.js';
import { Refusal, type RefusalCode } from '../errors/refusal.js';

/** What a host may be asked. Plain data, for it travels; which server it is about stands beside it. */
export type HostQuestion =
  | { readonly kind: 'perform'; readonly work: DriverWork; readonly origin: WorkOrigin; readonly job?: MachineJob }
  | { readonly kind: 'saveSnapshot'; readonly imageId: string; readonly caller: Caller; readonly job?: MachineJob }
  | { readonly kind: 'obstacle'; readonly verb: DriverVerb }
  | { readonly kind: 'consoleOutput' }
  | { readonly kind: 'diagnostics' }
  | { readonly kind: 'moveProgress' }
  | { readonly kind: 'console'; readonly type: string }
  /** Whether the server, which has left the host or is leaving it, has left something there. */
  | { readonly kind: 'tidy' }
  | { readonly kind: 'hostUptime' }
  | { readonly kind: 'hostPower'; readonly action: HostPowerAction }
  | { readonly kind: 'hostMaintenance'; readonly on: boolean }
  | { readonly kind: 'cacheImages'; readonly imageIds: readonly string[] };

/** What came of it. */
export type HostAnswer = { readonly value: unknown } | { readonly error: ThrownError };

/** An error as it travels. */
interface ThrownError {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
  readonly code?: string;
}

export function failedWith(error: unknown): HostAnswer {
  const { name, message, stack, code }: ThrownError = error instanceof Error ? error : new Error(String(error));
  return { error: { name, message, stack, ...(typeof code === 'string' && { code }) } };
}

const REFUSALS: Readonly<Record<RefusalCode, true>> = {
  BAD_REQUEST: true,
  FORBIDDEN: true,
  NOT_FOUND: true,
  CONFLICT: true,
  NOT_SUPPORTED: true,
};

const isRefusal = (code: string): code is RefusalCode => Object.hasOwn(REFUSALS, code);
const isOfCatalogs = (code: string): code is CatalogErrorCode => Object.hasOwn(catalogErrorKinds, code);

/** What callers may be told of is an error of the class that says so again; of all others the code is kept. */
function revived({ name, message, code }: ThrownError): Error {
  if (code === undefined) return Object.assign(new Error(message), { name });
  if (isRefusal(code)) return new Refusal(code, message);
  return isOfCatalogs(code) ? new CatalogError(code, message) : Object.assign(new Error(message), { name, code });
}

/** The value, or the error as it was thrown on the host. */
export function answerValue(answer: HostAnswer): unknown {
  if ('value' in answer) return answer.value;
  const error = revived(answer.error);
  if (answer.error.stack !== undefined) error.stack = answer.error.stack;
  throw error;
}
