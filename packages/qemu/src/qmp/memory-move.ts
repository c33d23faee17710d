import { QemuError, type QemuErrorCode } from '../qemu-error.js';
import type { QmpClient, QmpEvent } from './qmp-client.js';

/** As good as no bound: QEMU's own default is a low one. */
const UNBOUNDED = 2 ** 36;

/** The guest rests, and everything but its memory's last part is there; then the move waits to be told to go on. */
export const PRE_SWITCHOVER = 'pre-switchover';

/** How a move of memory ends. */
const ENDS: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled']);

/** What QEMU tells of a move of memory. */
export interface MemoryMove {
  readonly status?: string;
  readonly 'error-desc'?: string;
  readonly ram?: { readonly total: number; readonly transferred: number; readonly remaining: number };
}

export function memoryMove(qmp: QmpClient): Promise<MemoryMove> {
  return qmp.execute<MemoryMove>('query-migrate');
}

/** Whether there is no move, or none any more. */
export function isOver({ status = 'none' }: MemoryMove): boolean {
  return status === 'none' || ENDS.has(status);
}

function statusTold({ event, data }: QmpEvent): string | undefined {
  return event === 'MIGRATION' ? String(data.status) : undefined;
}

/** Whether an event is the end of a move of memory. */
export function hasEnded(event: QmpEvent): boolean {
  return ENDS.has(statusTold(event) ?? '');
}

/** The same, or the last moment before that. */
export function hasEndedOrRests(event: QmpEvent): boolean {
  return statusTold(event) === PRE_SWITCHOVER || hasEnded(event);
}

/**
 * Says how memory is to be moved the next time; what was wanted of an earlier move, whose program may have died, counts no more.
 * @param live the guest goes on meanwhile, and everything waits for a word at the last moment
 * @param bytesPerSecond left out: there is no bound
 */
export async function beforeMemoryMove(qmp: QmpClient, live: boolean, bytesPerSecond = UNBOUNDED): Promise<void> {
  const capabilities = [
    { capability: 'events', state: true },
    { capability: 'pause-before-switchover', state: live },
    // A guest that changes its memory faster than the network carries it is slowed down.
    { capability: 'auto-converge', state: live },
  ];
  await qmp.execute('migrate-set-capabilities', { capabilities });
  await qmp.execute('migrate-set-parameters', { 'max-bandwidth': bytesPerSecond });
}

/** The first version of QEMU that keeps in mind all that a translated guest writes while its memory is on its way. */
const KEEPS_ALL_WRITES = 9;

/**
 * Whether a guest has to rest while its memory moves. QEMU before 9.0 misses some pages that a guest without KVM has written to
 * again after they were sent, and such a guest goes on with what was there before: its kernel dies of it sooner or later.
 */
export async function hasToRest(qmp: QmpClient): Promise<boolean> {
  if ((await qmp.execute<{ enabled: boolean }>('query-kvm')).enabled) return false;
  const { qemu } = await qmp.execute<{ qemu: { major: number } }>('query-version');
  return qemu.major < KEEPS_ALL_WRITES;
}

/** Throws why a move of memory has ended before everything was there. */
export async function checkMemoryMoved(qmp: QmpClient, { data }: QmpEvent, code: QemuErrorCode): Promise<void> {
  if (data.status === 'completed') return;
  const { 'error-desc': why } = await memoryMove(qmp);
  throw new QemuError(code, `the memory could not be moved: ${why ?? data.status}`);
}
