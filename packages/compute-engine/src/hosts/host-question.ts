import type { DriverWork, WorkOrigin } from '../drivers/driver.js';
import type { HostPowerAction } from '../drivers/host-control.js';
import type { MachineJob } from '../drivers/machines.js';
import type { Caller } from '../model/caller.js';

/** What a host may be asked. Plain data, for it travels; which server it is about stands beside it. */
export type HostQuestion =
  | { readonly kind: 'perform'; readonly work: DriverWork; readonly origin: WorkOrigin; readonly job?: MachineJob }
  | { readonly kind: 'saveSnapshot'; readonly imageId: string; readonly caller: Caller; readonly job?: MachineJob }
  | { readonly kind: 'consoleOutput' }
  | { readonly kind: 'diagnostics' }
  | { readonly kind: 'console'; readonly type: string }
  /** Whether the server, which has left the host or is leaving it, has left something there. */
  | { readonly kind: 'tidy' }
  | { readonly kind: 'hostUptime' }
  | { readonly kind: 'hostPower'; readonly action: HostPowerAction }
  | { readonly kind: 'hostMaintenance'; readonly on: boolean }
  | { readonly kind: 'cacheImages'; readonly imageIds: readonly string[] };

/** What came of it. */
export type HostAnswer =
  | { readonly value: unknown }
  | { readonly error: { readonly name: string; readonly message: string; readonly stack?: string } };

export function failedWith(error: unknown): HostAnswer {
  const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
  return { error: { name, message, stack } };
}

/** The value, or the error as it was thrown on the host. */
export function answerValue(answer: HostAnswer): unknown {
  if ('value' in answer) return answer.value;
  const { name, message, stack } = answer.error;
  const error = new Error(message);
  error.name = name;
  if (stack !== undefined) error.stack = stack;
  throw error;
}
