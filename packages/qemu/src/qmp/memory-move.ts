import { QemuError, type QemuErrorCode } from '../qemu-error.js';
import type { QmpClient, QmpEvent } from './qmp-client.js';

/** A practically unlimited bandwidth in bytes per second. QEMU's default is low. */
const UNLIMITED_BANDWIDTH = 2 ** 36;

/**
 * The QEMU migration status before the switchover: the guest is paused, all but the last part of its memory was sent,
 * and QEMU waits for a command to continue.
 */
export const PRE_SWITCHOVER = 'pre-switchover';

/** The final states of a QEMU migration. */
const FINAL_STATES: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled']);

/** The state of a memory transfer, as reported by `query-migrate`. */
export interface MemoryMove {
  readonly status?: string;
  readonly 'error-desc'?: string;
  readonly ram?: { readonly total: number; readonly transferred: number; readonly remaining: number };
}

export function queryMemoryMove(qmp: QmpClient): Promise<MemoryMove> {
  return qmp.execute<MemoryMove>('query-migrate');
}

/** Returns true if no memory transfer is in progress. */
export function isInactive({ status = 'none' }: MemoryMove): boolean {
  return status === 'none' || FINAL_STATES.has(status);
}

function eventStatus({ event, data }: QmpEvent): string | undefined {
  return event === 'MIGRATION' ? String(data.status) : undefined;
}

/** Returns true for an event that reports the end of a memory transfer. */
export function isEndEvent(event: QmpEvent): boolean {
  return FINAL_STATES.has(eventStatus(event) ?? '');
}

/** Returns true for an event that reports the end of a memory transfer, or its pause before the switchover. */
export function isEndOrPauseEvent(event: QmpEvent): boolean {
  return eventStatus(event) === PRE_SWITCHOVER || isEndEvent(event);
}

/**
 * Configures the next memory transfer. Also resets the settings of an earlier transfer, whose process may have died.
 *
 * @param isLive whether the guest runs during the transfer, which then pauses before the switchover
 * @param bytesPerSecond the bandwidth limit; default: unlimited
 */
export async function configureMemoryMove(
  qmp: QmpClient,
  isLive: boolean,
  bytesPerSecond = UNLIMITED_BANDWIDTH,
): Promise<void> {
  const capabilities = [
    { capability: 'events', state: true },
    { capability: 'pause-before-switchover', state: isLive },
    // Slows down guests that change their memory faster than the network can transfer it.
    { capability: 'auto-converge', state: isLive },
  ];
  await qmp.execute('migrate-set-capabilities', { capabilities });
  await qmp.execute('migrate-set-parameters', { 'max-bandwidth': bytesPerSecond });
}

/** The first major QEMU version that tracks all memory writes of guests without KVM during a migration. */
const MIN_TRACKING_VERSION = 9;

/**
 * Returns true if a guest must be paused while its memory is transferred. Without KVM, QEMU before 9.0 misses some
 * pages that a guest changes after they were sent. The guest would continue with stale pages, and its kernel would
 * crash sooner or later.
 */
export async function mustPauseBeforeSwitchover(qmp: QmpClient): Promise<boolean> {
  if ((await qmp.execute<{ enabled: boolean }>('query-kvm')).enabled) return false;
  const { qemu } = await qmp.execute<{ qemu: { major: number } }>('query-version');
  return qemu.major < MIN_TRACKING_VERSION;
}

/** Checks the event that ended a memory transfer. @throws QemuError with the reason if the transfer failed */
export async function checkMemoryMoved(qmp: QmpClient, { data }: QmpEvent, code: QemuErrorCode): Promise<void> {
  if (data.status === 'completed') return;
  const { 'error-desc': reason } = await queryMemoryMove(qmp);
  throw new QemuError(code, `the memory could not be moved: ${reason ?? data.status}`);
}
