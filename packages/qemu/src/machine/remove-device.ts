import { type QmpClient, QmpCommandError } from '../qmp/qmp-client.js';

/** Returns an error handler that ignores QEMU errors whose message matches. Other errors are rethrown. */
export function ignoreExpectedError(expected: RegExp) {
  return (error: unknown): void => {
    if (!(error instanceof QmpCommandError && expected.test(error.message))) throw error;
  };
}

/** QEMU's error messages for devices that are already attached, or already detached. */
export const ATTACHED_ERRORS = /Duplicate (device )?ID|Duplicate nodes/i;
export const DETACHED_ERRORS = /not found|failed to find|cannot find/i;

/**
 * Requests that the guest release a device, and waits until the device is removed.
 *
 * @returns false if the guest keeps the device, because it did not respond in time, for example while booting
 */
export async function removeDevice(
  qmp: QmpClient,
  id: string,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const timeoutSignal = AbortSignal.timeout(timeoutMs);
  try {
    await qmp.executeUntil(
      'device_del',
      { id },
      ({ event, data }) => event === 'DEVICE_DELETED' && data.device === id,
      AbortSignal.any([signal, timeoutSignal]),
    );
    return true;
  } catch (error) {
    signal.throwIfAborted();
    if (timeoutSignal.aborted) return false;
    if (error instanceof QmpCommandError && /already in the process of unplug/i.test(error.message)) return false;
    ignoreExpectedError(DETACHED_ERRORS)(error);
    return true;
  }
}
