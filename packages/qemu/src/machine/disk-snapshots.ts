import type { Host } from '../host.js';
import { diskFile, LOCAL_DISKS } from '../moves/machine-manifest.js';
import { runProgram } from '../programs/run-program.js';
import type { QmpClient } from '../qmp/qmp-client.js';
import { nodeName } from './block-devices.js';
import { queryBlockNodes } from './copy-disk.js';
import type { MachineFolder } from './machine-folder.js';
import { readDiskInfo } from './prepare-disks.js';
import { retryWhileLocked } from './retry-while-locked.js';

/** The name of the internal qcow2 snapshot that disks keep until a resize is confirmed. Taking it copies no data. */
const SNAPSHOT_NAME = 'before-resize';

type DiskInfo = { readonly snapshots?: readonly { readonly name: string }[] } | undefined;

const containsSnapshot = (disk: DiskInfo) => disk?.snapshots?.some(({ name }) => name === SNAPSHOT_NAME) ?? false;

/** Yields the path of each local disk of a stopped machine, and whether the disk has the resize snapshot. */
async function* readLocalDisks(host: Host, folder: MachineFolder, signal: AbortSignal) {
  for (const disk of LOCAL_DISKS) {
    const path = diskFile(folder, disk);
    const info = await readDiskInfo(host.diskTools, path, signal);
    if (info) yield { path, hasSnapshot: containsSnapshot(info) };
  }
}

async function runSnapshotCommand(
  host: Host,
  option: '-c' | '-a' | '-d',
  path: string,
  signal: AbortSignal,
): Promise<void> {
  const { qemuImg, runAs, diskWaitMs } = host.parts;
  const args = ['snapshot', '-q', option, SNAPSHOT_NAME, path];
  await retryWhileLocked(() => runProgram(qemuImg, args, { runAs, signal }), diskWaitMs, signal);
}

/** Takes a resize snapshot of each disk of a stopped machine, unless the disk has one already. */
export async function snapshotDisks(host: Host, folder: MachineFolder, signal: AbortSignal): Promise<void> {
  for await (const { path, hasSnapshot } of readLocalDisks(host, folder, signal))
    if (!hasSnapshot) await runSnapshotCommand(host, '-c', path, signal);
}

/** Restores the disks of a stopped machine from their resize snapshots. */
export async function restoreDisks(host: Host, folder: MachineFolder, signal: AbortSignal): Promise<void> {
  for await (const { path, hasSnapshot } of readLocalDisks(host, folder, signal)) {
    if (!hasSnapshot) continue;
    await runSnapshotCommand(host, '-a', path, signal);
    await runSnapshotCommand(host, '-d', path, signal);
  }
}

/** Deletes the resize snapshots of a machine's disks, whether or not the machine is running. */
export async function removeDiskSnapshots(host: Host, serverId: string, signal: AbortSignal): Promise<void> {
  const machine = host.machine({ id: serverId });
  const qmp = await machine.connectIfRunning();
  if (qmp) return removeRunningSnapshots(qmp);
  for await (const { path, hasSnapshot } of readLocalDisks(host, machine.folder, signal))
    if (hasSnapshot) await runSnapshotCommand(host, '-d', path, signal);
}

async function removeRunningSnapshots(qmp: QmpClient): Promise<void> {
  const nodes = await queryBlockNodes(qmp);
  for (const device of LOCAL_DISKS.map(nodeName))
    if (containsSnapshot(nodes.get(device)))
      await qmp.execute('blockdev-snapshot-delete-internal-sync', { device, name: SNAPSHOT_NAME });
}
