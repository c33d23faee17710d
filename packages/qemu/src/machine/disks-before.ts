import type { Host } from '../host.js';
import { diskFile, OWN_DISKS } from '../moves/machine-story.js';
import { runProgram } from '../programs/run-program.js';
import type { QmpClient } from '../qmp/qmp-client.js';
import { nodeName } from './block-devices.js';
import { blockNodesOf } from './copy-disk.js';
import type { MachineFolder } from './machine-folder.js';
import { diskInfo } from './prepare-disks.js';
import { untilFree } from './until-free.js';

/** The name of what disks keep of how they were before a move that the owner has not confirmed yet: nothing is copied for it. */
const BEFORE = 'before-resize';

type Has = { readonly snapshots?: readonly { readonly name: string }[] } | undefined;

const hasBefore = (disk: Has) => disk?.snapshots?.some(({ name }) => name === BEFORE) ?? false;

/** The disks of a machine that is off, with whether they keep how they were. */
async function* ownDisks(host: Host, folder: MachineFolder, signal: AbortSignal) {
  for (const disk of OWN_DISKS) {
    const path = diskFile(folder, disk);
    const info = await diskInfo(host.disks, path, signal);
    if (info) yield { path, kept: hasBefore(info) };
  }
}

async function snapshot(host: Host, option: '-c' | '-a' | '-d', path: string, signal: AbortSignal): Promise<void> {
  const { qemuImg, runAs, diskWaitMs } = host.parts;
  const args = ['snapshot', '-q', option, BEFORE, path];
  await untilFree(() => runProgram(qemuImg, args, { runAs, signal }), diskWaitMs, signal);
}

/** Has the disks of a machine that is off keep how they are now, unless they keep something already. */
export async function keepDisks(host: Host, folder: MachineFolder, signal: AbortSignal): Promise<void> {
  for await (const { path, kept } of ownDisks(host, folder, signal))
    if (!kept) await snapshot(host, '-c', path, signal);
}

/** Has the disks of a machine that is off be again as they were. */
export async function restoreDisks(host: Host, folder: MachineFolder, signal: AbortSignal): Promise<void> {
  for await (const { path, kept } of ownDisks(host, folder, signal)) {
    if (!kept) continue;
    await snapshot(host, '-a', path, signal);
    await snapshot(host, '-d', path, signal);
  }
}

/** Has the disks of a machine forget how they were, whether it runs or not. */
export async function forgetBefore(host: Host, serverId: string, signal: AbortSignal): Promise<void> {
  const machine = host.machine({ id: serverId });
  const qmp = await machine.running();
  if (qmp) return forgetWhileRunning(qmp);
  for await (const { path, kept } of ownDisks(host, machine.folder, signal))
    if (kept) await snapshot(host, '-d', path, signal);
}

async function forgetWhileRunning(qmp: QmpClient): Promise<void> {
  const nodes = await blockNodesOf(qmp);
  for (const device of OWN_DISKS.map(nodeName))
    if (hasBefore(nodes.get(device)))
      await qmp.execute('blockdev-snapshot-delete-internal-sync', { device, name: BEFORE });
}
