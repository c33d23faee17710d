import { type QmpClient, QmpRefusal } from '../qmp/qmp-client.js';

/** Passes over what QEMU refuses because it is so already. */
export function unlessSo(so: RegExp) {
  return (error: unknown): void => {
    if (!(error instanceof QmpRefusal && so.test(error.message))) throw error;
  };
}

/** What QEMU says of what is there already, and of what is not. */
export const THERE = /Duplicate (device )?ID|Duplicate nodes/i;
export const GONE = /not found|failed to find|cannot find/i;

/**
 * Asks the guest to let go of a device, and waits for that.
 *
 * @returns false when it has not answered in time, because it is still booting or has no driver: it keeps the device
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
    if (error instanceof QmpRefusal && /already in the process of unplug/i.test(error.message)) return false;
    unlessSo(GONE)(error);
    return true;
  }
}
