import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ProgramOptions, runProgram } from '../programs/run-program.js';
import { QemuError } from '../qemu-error.js';
import type { QmpClient, QmpEvent } from '../qmp/qmp-client.js';

/** The name of the block job that copies a disk, and of its target node. QEMU copies one disk at a time. */
const COPY_NAME = 'copy';
const POLL_INTERVAL_MS = 50;

interface BlockNode {
  readonly 'node-name': string;
  readonly image: {
    readonly 'virtual-size': number;
    readonly filename: string;
    readonly snapshots?: readonly { readonly name: string }[];
  };
}

/** Returns the block nodes of a QEMU process by name. */
export async function queryBlockNodes(qmp: QmpClient): Promise<ReadonlyMap<string, BlockNode['image']>> {
  const nodes = await qmp.execute<BlockNode[]>('query-named-block-nodes', { flat: true });
  return new Map(nodes.map((node) => [node['node-name'], node.image]));
}

/** Returns the named block node. @throws QemuError `UNSUPPORTED` if it does not exist */
export async function queryBlockNode(qmp: QmpClient, name: string): Promise<BlockNode['image']> {
  const node = (await queryBlockNodes(qmp)).get(name);
  if (!node) throw new QemuError('UNSUPPORTED', `the machine has no block node ${name}`);
  return node;
}

/** Cancels a block job, even if an earlier process started it, and waits until the job is removed. */
export async function removeJob(qmp: QmpClient, id: string): Promise<void> {
  await qmp.execute('job-cancel', { id }).catch(() => {});
  while ((await qmp.execute<{ id: string }[]>('query-jobs')).some((job) => job.id === id))
    await sleep(POLL_INTERVAL_MS);
}

async function removeCopy(qmp: QmpClient): Promise<void> {
  await removeJob(qmp, COPY_NAME);
  await qmp.execute('blockdev-del', { 'node-name': COPY_NAME }).catch(() => {});
}

/** Returns a predicate for the event that reports the end of a block job. */
export function createJobEndMatcher(job: string): (event: QmpEvent) => boolean {
  return ({ event, data }) =>
    (event === 'BLOCK_JOB_COMPLETED' || event === 'BLOCK_JOB_CANCELLED') && data.device === job;
}

/** Checks the event that reports the end of a block job. @throws QemuError with QEMU's message if the job failed */
export function checkJobEnd({ event, data }: QmpEvent, failureMessage: string): void {
  if (event === 'BLOCK_JOB_CANCELLED' || data.error !== undefined)
    throw new QemuError('QEMU_COMMAND_FAILED', `${failureMessage}: ${data.error ?? 'the copy was canceled'}`);
}

/** Starts mirroring a block node, to which the guest may write, and waits until the copy is identical. */
export async function mirrorUntilReady(
  qmp: QmpClient,
  copy: {
    readonly 'job-id': string;
    readonly device: string;
    readonly target: string;
    readonly sync: 'full' | 'top';
    /** The maximum number of bytes to copy per second; 0 means unlimited. */
    readonly speed?: number;
  },
  failureMessage: string,
  signal: AbortSignal,
): Promise<void> {
  const hasEnded = createJobEndMatcher(copy['job-id']);
  const isReady = ({ event, data }: QmpEvent) => event === 'BLOCK_JOB_READY' && data.device === copy['job-id'];
  const firstEvent = await qmp.executeUntil(
    'blockdev-mirror',
    copy,
    (event) => isReady(event) || hasEnded(event),
    signal,
  );
  if (!isReady(firstEvent)) checkJobEnd(firstEvent, failureMessage);
}

/**
 * Makes a point-in-time copy of a disk that a running QEMU process has open, as a new qcow2 file.
 *
 * @param around a function that calls its argument to start the copy. The copy has the disk's content at that time.
 */
export async function copyRunningDisk(
  qmp: QmpClient,
  node: string,
  target: string,
  { qemuImg, ...run }: { readonly qemuImg: string } & ProgramOptions & { readonly signal: AbortSignal },
  around?: (begin: () => Promise<unknown>) => Promise<unknown>,
): Promise<void> {
  await removeCopy(qmp);
  await rm(target, { force: true });
  const source = (await queryBlockNodes(qmp)).get(node);
  if (!source) throw new QemuError('UNSUPPORTED', 'the machine has no local disk to copy');
  await runProgram(qemuImg, ['create', '-q', '-f', 'qcow2', target, `${source['virtual-size']}`], run);
  await qmp.execute('blockdev-add', {
    driver: 'qcow2',
    'node-name': COPY_NAME,
    discard: 'unmap',
    'detect-zeroes': 'unmap',
    file: { driver: 'file', filename: target },
  });
  try {
    const job = { 'job-id': COPY_NAME, device: node, target: COPY_NAME, sync: 'full' };
    const endEvent = await qmp.executeUntil('blockdev-backup', job, createJobEndMatcher(COPY_NAME), run.signal, around);
    checkJobEnd(endEvent, 'the disk could not be copied');
  } finally {
    await removeCopy(qmp).catch(() => {});
  }
}
