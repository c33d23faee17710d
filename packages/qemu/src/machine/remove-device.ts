import { type QmpClient, QmpCommandError } from '../qmp/qmp-client.js';

/** Returns a handler that ignores QEMU errors about a state that is already reached. */
export function ignoreExpectedError(expected: RegExp) {
  return (error: unknown): void => {
    if (!(error instanceof QmpCommandError && expected.test(error.message))) throw error;
  };
}

/** QEMU errors for devices that are already attached, or not attached. */
export const ATTACHED = /Duplicate (device )?ID|Duplicate nodes/i;
export const DETACHED = /not found|failed to find|cannot find/i;

/**
 * Requests that the guest release a device, and waits until it is released.
 *
 * @returns false if the guest has not responded in time, because it is still booting or has no driver: it keeps the device
 */
export async function removeDevice(
  qmp: QmpClient,
  id: string,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const late = AbortSignal.timeout(timeoutMs);
  try {
    await qmp.executeUntil(
      'device_del',
      { id },
      ({ event, data }) => event === 'DEVICE_DELETED' && data.device === id,
      AbortSignal.any([signal, late]),
    );
    return true;
  } catch (error) {
    signal.throwIfAborted();
    if (late.aborted) return false;
    if (error instanceof QmpCommandError && /already in the process of unplug/i.test(error.message)) return false;
    ignoreExpectedError(DETACHED)(error);
    return true;
  }
}
