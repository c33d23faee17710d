import { QemuError, type QemuErrorCode } from '../qemu-error.js';
import type { QmpClient, QmpEvent } from './qmp-client.js';

/** A bandwidth that is practically unlimited; QEMU's own default is low. */
const UNBOUNDED = 2 ** 36;

/**
 * The status of a move that waits to be continued: the guest is paused, and everything except the last part of its memory
 * has been sent.
 */
export const PRE_SWITCHOVER = 'pre-switchover';

/** Final states of a memory move. */
const ENDS: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled']);

/** The state of a memory move that QEMU reports. */
export interface MemoryMove {
  readonly status?: string;
  readonly 'error-desc'?: string;
  readonly ram?: { readonly total: number; readonly transferred: number; readonly remaining: number };
}

export function queryMemoryMove(qmp: QmpClient): Promise<MemoryMove> {
  return qmp.execute<MemoryMove>('query-migrate');
}

/** Returns true if no move is in progress. */
export function isInactive({ status = 'none' }: MemoryMove): boolean {
  return status === 'none' || ENDS.has(status);
}

function statusOf({ event, data }: QmpEvent): string | undefined {
  return event === 'MIGRATION' ? String(data.status) : undefined;
}

/** Returns true for the event that ends a memory move. */
export function hasEnded(event: QmpEvent): boolean {
  return ENDS.has(statusOf(event) ?? '');
}

/** Returns true for the event that ends a memory move, or that pauses it before the switchover. */
export function isCompletedOrPaused(event: QmpEvent): boolean {
  return statusOf(event) === PRE_SWITCHOVER || hasEnded(event);
}

/**
 * Configures the next memory move, and resets settings of an earlier one, whose process may have died.
 *
 * @param live whether the guest runs during the move, and the switchover waits for a command
 * @param bytesPerSecond the bandwidth limit; default: unlimited
 */
export async function configureMemoryMove(qmp: QmpClient, live: boolean, bytesPerSecond = UNBOUNDED): Promise<void> {
  const capabilities = [
    { capability: 'events', state: true },
    { capability: 'pause-before-switchover', state: live },
    // Slows down a guest that changes its memory faster than the network transfers it.
    { capability: 'auto-converge', state: live },
  ];
  await qmp.execute('migrate-set-capabilities', { capabilities });
  await qmp.execute('migrate-set-parameters', { 'max-bandwidth': bytesPerSecond });
}

/** The first QEMU version that tracks all writes of a guest without KVM during a memory move. */
const TRACKS_ALL_WRITES = 9;

/**
 * Returns true if a guest must be paused while its memory moves. QEMU before 9.0 misses some pages that a guest without
 * KVM writes to after they were sent; such a guest continues with stale pages, and its kernel crashes sooner or later.
 */
export async function mustPauseBeforeSwitchover(qmp: QmpClient): Promise<boolean> {
  if ((await qmp.execute<{ enabled: boolean }>('query-kvm')).enabled) return false;
  const { qemu } = await qmp.execute<{ qemu: { major: number } }>('query-version');
  return qemu.major < TRACKS_ALL_WRITES;
}

/** Checks the event that ended a memory move. @throws QemuError with the reason if the move failed */
export async function checkMemoryMoved(qmp: QmpClient, { data }: QmpEvent, code: QemuErrorCode): Promise<void> {
  if (data.status === 'completed') return;
  const { 'error-desc': reason } = await queryMemoryMove(qmp);
  throw new QemuError(code, `the memory could not be moved: ${reason ?? data.status}`);
}
