import { createReadStream, existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import type { Server } from '@apistrata/compute-engine';
import type { Host } from '../host.js';
import { copyRunningDisk } from '../machine/copy-disk.js';
import { readOccupiedBytes } from '../machine/disk-space.js';
import { runProgram } from '../programs/run-program.js';
import { checkSpace } from '../volumes/check-space.js';
import type { DriverOperations } from './operation-request.js';
import { boot } from './power.js';

/** Yields the content of a disk copy, and deletes the copy afterwards. */
export async function* streamSnapshot(host: Host, server: Server, imageId: string): AsyncGenerator<Uint8Array> {
  const path = host.machine(server).folder.snapshotPath(imageId);
  yield* createReadStream(path, { highWaterMark: 2 ** 20 });
  await rm(path, { force: true });
}

/** The operations that copy disks to images, and that shelve servers. */
export const snapshotOperations: DriverOperations = {
  snapshot: async ({ host, work, server, signal }) => {
    const machine = host.machine(server);
    const { folder } = machine;
    const path = folder.snapshotPath(work.imageId);
    const copyPath = `${path}.copy`;
    if (existsSync(path)) return rm(copyPath, { force: true });
    const { qemuImg, runAs, directory } = host.parts;
    const qmp = await machine.connectIfRunning();
    if (await machine.isRunning()) await host.frozenGuests.trim(server, folder, signal);
    // A copy that fills the host's disk would pause all guests.
    await checkSpace(
      directory,
      (qmp ? 2 : 1) * (await readOccupiedBytes(folder.file('root'), folder.file('rootBase'))),
    );
    try {
      const runWhileFrozen = (begin: () => Promise<unknown>) =>
        host.frozenGuests.runFrozen(server, folder, work.imageId, begin);
      if (qmp) await copyRunningDisk(qmp, 'root', copyPath, { qemuImg, runAs, signal }, runWhileFrozen);
      // The conversion merges the backing file into the image, and drops blocks that the guest has discarded.
      const sourcePath = qmp ? copyPath : folder.file('root');
      await rm(`${path}.new`, { force: true });
      await runProgram(qemuImg, ['convert', '-f', 'qcow2', '-O', 'qcow2', sourcePath, `${path}.new`], {
        runAs,
        signal,
      });
      await rename(`${path}.new`, path);
    } finally {
      await rm(copyPath, { force: true });
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
