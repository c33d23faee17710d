import { readFile, writeFile } from 'node:fs/promises';
import { QemuError } from '../qemu-error.js';
import { fetchCompanionFiles, fetchFile, fetchManifest, type RemoteMachine } from './fetch-machine.js';
import { diskFile, LOCAL_DISKS } from './machine-manifest.js';

/**
 * Fetches a stopped machine's disks and other files from the source host, unless both hosts share the disks or the
 * files were fetched before.
 */
export async function fetchDisks(remote: RemoteMachine): Promise<void> {
  const { host, server, sourceHost } = remote;
  const machine = host.machine(server);
  const { folder } = machine;
  if (await machine.connectIfRunning()) return;
  const manifest = await fetchManifest(remote);
  if (manifest.move === null) throw new QemuError('MOVE_FAILED', `the host ${sourceHost} has no disks to migrate`);
  if ((await readFile(folder.file('coldMigrationId'), 'utf8').catch(() => null)) === manifest.move) return;
  const isShared = await host.sharesStorageWith(sourceHost);
  await (isShared ? folder.removeLocal() : folder.remove());
  await folder.createFolder();
  await fetchFile(remote, 'console', folder.file('console'));
  if (!isShared) {
    await fetchCompanionFiles(remote, manifest);
    for (const disk of LOCAL_DISKS)
      if (manifest.disks[disk] !== undefined) await fetchFile(remote, disk, diskFile(folder, disk));
  }
  await writeFile(folder.file('coldMigrationId'), manifest.move);
}
