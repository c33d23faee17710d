import { createReadStream, existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Server } from '@apistrata/compute-engine';
import type { Host } from '../host.js';
import { runProgram } from '../programs/run-program.js';
import { QemuError } from '../qemu-error.js';
import type { QmpClient, QmpEvent } from '../qmp/qmp-client.js';
import { boot } from './life.js';
import type { Verbs } from './order.js';

/** The one copy that is made of a machine at a time, as job and as node. */
const COPY = 'copy';
const LOOK_MS = 50;

interface BlockNode {
  readonly 'node-name': string;
  readonly image: { readonly 'virtual-size': number };
}

/** Ends a copy that somebody has begun before. */
async function forgetCopy(qmp: QmpClient): Promise<void> {
  await qmp.execute('job-cancel', { id: COPY }).catch(() => {});
  while ((await qmp.execute<{ id: string }[]>('query-jobs')).some(({ id }) => id === COPY)) await sleep(LOOK_MS);
  await qmp.execute('blockdev-del', { 'node-name': COPY }).catch(() => {});
}

function hasEnded({ event, data }: QmpEvent): boolean {
  return (event === 'BLOCK_JOB_COMPLETED' || event === 'BLOCK_JOB_CANCELLED') && data.device === COPY;
}

/** Copies the disk of a guest that runs, as it is at one moment; the guest goes on meanwhile. */
async function copyWhileRunning(host: Host, qmp: QmpClient, target: string, signal: AbortSignal): Promise<void> {
  await forgetCopy(qmp);
  await rm(target, { force: true });
  const nodes = await qmp.execute<BlockNode[]>('query-named-block-nodes', { flat: true });
  const root = nodes.find((node) => node['node-name'] === 'root');
  if (!root) throw new QemuError('NOT_POSSIBLE', 'the machine has no disk of its own to be copied');
  const { qemuImg, runAs } = host.parts;
  const size = `${root.image['virtual-size']}`;
  await runProgram(qemuImg, ['create', '-q', '-f', 'qcow2', target, size], { runAs, signal });
  await qmp.execute('blockdev-add', {
    driver: 'qcow2',
    'node-name': COPY,
    file: { driver: 'file', filename: target },
  });
  try {
    const job = { 'job-id': COPY, device: 'root', target: COPY, sync: 'full' };
    const { event, data } = await qmp.executeUntil('blockdev-backup', job, hasEnded, signal);
    if (event === 'BLOCK_JOB_CANCELLED' || data.error !== undefined)
      throw new QemuError('MACHINE_REFUSED', `its disk could not be copied: ${data.error ?? 'the copy was ended'}`);
  } finally {
    await forgetCopy(qmp).catch(() => {});
  }
}

/** The bytes of a copy, which is not kept any longer than that. */
export async function* snapshotContent(host: Host, server: Server, imageId: string): AsyncGenerator<Uint8Array> {
  const path = host.machine(server).folder.snapshot(imageId);
  yield* createReadStream(path, { highWaterMark: 2 ** 20 });
  await rm(path, { force: true });
}

/** Copies of disks, and servers that are nothing but a copy for a while. */
export const snapshots: Verbs = {
  snapshot: async ({ host, work, server, signal }) => {
    const machine = host.machine(server);
    const { folder } = machine;
    const path = folder.snapshot(work.imageId);
    if (existsSync(path)) return;
    const copy = `${path}.copy`;
    const { qemuImg, runAs } = host.parts;
    const qmp = await machine.running();
    try {
      if (qmp) await copyWhileRunning(host, qmp, copy, signal);
      // The image leans on nothing, and has no holes where the guest has deleted something.
      const source = qmp ? copy : folder.file('root');
      await rm(`${path}.new`, { force: true });
      await runProgram(qemuImg, ['convert', '-f', 'qcow2', '-O', 'qcow2', source, `${path}.new`], { runAs, signal });
      await rename(`${path}.new`, path);
    } finally {
      await rm(copy, { force: true });
    }
  },
  shelve_offload: ({ host, server }) => host.remove(server),
  unshelve: async ({ host, work, server, signal }) => {
    try {
      await boot(host, server, work.imageId ?? server.imageId, { adminPassword: null, files: [] }, signal);
    } catch (error) {
      if (!signal.aborted && work.imageId !== null) await host.remove(server);
      throw error;
    }
  },
};
