import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import type { FlavorCopy } from '@apistrata/compute-engine';
import type { Host } from '../host.js';
import { removeDiskSnapshots, restoreDisks, snapshotDisks } from '../machine/disk-snapshots.js';
import type { MachineFolder } from '../machine/machine-folder.js';
import { createDisks, GIB, readDiskBytes } from '../machine/prepare-disks.js';
import { retryWhileLocked } from '../machine/retry-while-locked.js';
import { fetchDisks } from '../moves/fetch-disks.js';
import { createTransferClient, retryWhileUnreachable } from '../moves/transfer-requests.js';
import { runProgram } from '../programs/run-program.js';
import { QemuError } from '../qemu-error.js';
import type { DriverOperations } from './operation-request.js';

async function growRootDisk(
  host: Host,
  folder: MachineFolder,
  { diskGb }: FlavorCopy,
  signal: AbortSignal,
): Promise<void> {
  if (diskGb * GIB <= (await readDiskBytes(host.diskTools, folder.file('root'), signal))) return;
  const { qemuImg, runAs, diskWaitMs } = host.parts;
  const args = ['resize', '-q', '-f', 'qcow2', folder.file('root'), `${diskGb}G`];
  await retryWhileLocked(() => runProgram(qemuImg, args, { runAs, signal }), diskWaitMs, signal);
}

/**
 * Resizes servers or migrates them to another host. Until the user confirms, disks that stay in place keep a snapshot,
 * and disks that the other host has copied are kept on this host.
 */
export const resizeOperations: DriverOperations = {
  migrate_disk: async ({ host, work, server, signal }) => {
    const machine = host.machine(server);
    const { folder } = machine;
    const hasRoot = await folder.exists('root');
    const { diskGb } = work.flavor;
    if (hasRoot && diskGb > 0 && diskGb * GIB < (await readDiskBytes(host.diskTools, folder.file('root'), signal)))
      throw new QemuError(
        'UNSUPPORTED',
        `the disk does not fit into the ${diskGb} GiB of the flavor ${work.flavor.name}`,
      );
    // Existing snapshots remain from a failed resize. They are stale, because the guest has run since.
    if (await machine.connectIfRunning()) await removeDiskSnapshots(host, server.id, signal);
    await host.stop(server, signal);
    const isOtherHost = work.destHost !== server.host;
    if (!isOtherHost || (await host.sharesStorageWith(work.destHost))) await snapshotDisks(host, folder, signal);
    if (isOtherHost) await writeFile(folder.file('coldMigrationId'), randomUUID());
  },
  finish_migration: async ({ host, work, server, signal }) => {
    const { folder } = host.machine(server);
    const { sourceHost } = work;
    if (sourceHost !== server.host)
      await fetchDisks({ host, server, sourceHost, signal, retriesWhileUnreachable: true });
    else await folder.removeFiles('coldMigrationId');
    if (await folder.exists('root')) await growRootDisk(host, folder, work.flavor, signal);
    await createDisks(host.diskTools, server, '', work.flavor, folder, signal);
    if (work.powerOn) await host.start(server, signal, work.flavor);
  },
  confirm_migration: async ({ host, work, server, signal }) => {
    const { id: serverId, host: otherHost } = server;
    if (work.sourceHost === otherHost) return removeDiskSnapshots(host, serverId, signal);
    // Only the host that has the disks open can remove their snapshots.
    if (otherHost !== null && (await host.sharesStorageWith(otherHost)))
      await retryWhileUnreachable(
        () => createTransferClient(otherHost, host, signal).value({ kind: 'remove disks before', serverId }),
        signal,
      );
    await host.removeLocalCopy(otherHost, server);
  },
  revert_migration: async ({ host, work, server, signal }) => {
    const { sourceHost } = work;
    const isSameHost = sourceHost === server.host;
    const machine = host.machine(server);
    await machine.powerOff();
    if (isSameHost || (await host.sharesStorageWith(sourceHost))) await restoreDisks(host, machine.folder, signal);
    if (!isSameHost) await host.removeLocalCopy(sourceHost, server);
  },
};
