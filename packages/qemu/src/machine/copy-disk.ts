import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ProgramOptions, runProgram } from '../programs/run-program.js';
import { QemuError } from '../qemu-error.js';
import type { QmpClient, QmpEvent } from '../qmp/qmp-client.js';

/** The one copy that is made by a process at a time, as job and as node. */
const COPY = 'copy';
const LOOK_MS = 50;

interface BlockNode {
  readonly 'node-name': string;
  readonly image: {
    readonly 'virtual-size': number;
    readonly filename: string;
    readonly snapshots?: readonly { readonly name: string }[];
  };
}

/** The nodes of a process by their name. */
export async function blockNodesOf(qmp: QmpClient): Promise<ReadonlyMap<string, BlockNode['image']>> {
  const nodes = await qmp.execute<BlockNode[]>('query-named-block-nodes', { flat: true });
  return new Map(nodes.map((node) => [node['node-name'], node.image]));
}

/** One that the machine has to have. */
export async function blockNodeOf(qmp: QmpClient, name: string): Promise<BlockNode['image']> {
  const node = (await blockNodesOf(qmp)).get(name);
  if (!node) throw new QemuError('NOT_POSSIBLE', `the machine has no block node ${name}`);
  return node;
}

/** Ends a job that somebody has begun before, and waits until it is gone. */
export async function forgetJob(qmp: QmpClient, id: string): Promise<void> {
  await qmp.execute('job-cancel', { id }).catch(() => {});
  while ((await qmp.execute<{ id: string }[]>('query-jobs')).some((job) => job.id === id)) await sleep(LOOK_MS);
}

async function forgetCopy(qmp: QmpClient): Promise<void> {
  await forgetJob(qmp, COPY);
  await qmp.execute('blockdev-del', { 'node-name': COPY }).catch(() => {});
}

/** Whether an event is the end of a job. */
export function endOf(job: string): (event: QmpEvent) => boolean {
  return ({ event, data }) =>
    (event === 'BLOCK_JOB_COMPLETED' || event === 'BLOCK_JOB_CANCELLED') && data.device === job;
}

/** Throws what has ended a job before it was done. */
export function checkEnd({ event, data }: QmpEvent, what: string): void {
  if (event === 'BLOCK_JOB_CANCELLED' || data.error !== undefined)
    throw new QemuError('MACHINE_REFUSED', `${what}: ${data.error ?? 'the copy was ended'}`);
}

/** Begins to keep a copy of a node that changes meanwhile, and waits until it is as the node is. */
export async function mirrorUntilReady(
  qmp: QmpClient,
  copy: {
    readonly 'job-id': string;
    readonly device: string;
    readonly target: string;
    readonly sync: 'full' | 'top';
    /** The most bytes a second; 0: no bound. */
    readonly speed?: number;
  },
  what: string,
  signal: AbortSignal,
): Promise<void> {
  const hasEnded = endOf(copy['job-id']);
  const isReady = ({ event, data }: QmpEvent) => event === 'BLOCK_JOB_READY' && data.device === copy['job-id'];
  const copied = await qmp.executeUntil('blockdev-mirror', copy, (told) => isReady(told) || hasEnded(told), signal);
  if (!isReady(copied)) checkEnd(copied, what);
}

/**
 * Copies a disk that a process has open, as it is at one moment, to a new qcow2 file; whoever uses the disk goes on
 * meanwhile.
 * @param around what has to hold at that moment
 */
export async function copyWhileRunning(
  qmp: QmpClient,
  node: string,
  target: string,
  { qemuImg, ...run }: { readonly qemuImg: string } & ProgramOptions & { readonly signal: AbortSignal },
  around?: (begin: () => Promise<unknown>) => Promise<unknown>,
): Promise<void> {
  await forgetCopy(qmp);
  await rm(target, { force: true });
  const source = (await blockNodesOf(qmp)).get(node);
  if (!source) throw new QemuError('NOT_POSSIBLE', 'the machine has no disk of its own to be copied');
  await runProgram(qemuImg, ['create', '-q', '-f', 'qcow2', target, `${source['virtual-size']}`], run);
  await qmp.execute('blockdev-add', {
    driver: 'qcow2',
    'node-name': COPY,
    discard: 'unmap',
    'detect-zeroes': 'unmap',
    file: { driver: 'file', filename: target },
  });
  try {
    const job = { 'job-id': COPY, device: node, target: COPY, sync: 'full' };
    const ended = await qmp.executeUntil('blockdev-backup', job, endOf(COPY), run.signal, around);
    checkEnd(ended, 'its disk could not be copied');
  } finally {
    await forgetCopy(qmp).catch(() => {});
  }
}
