import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, rename, rm, writeFile } from 'node:fs/promises';
import type { FlavorCopy } from '@apistrata/compute-engine';
import type { Host } from '../host.js';
import type { MachineFolder } from '../machine/machine-folder.js';
import { diskBytes, GIB, makeDisks } from '../machine/prepare-disks.js';
import { fetchDisks } from '../moves/fetch-disks.js';
import { runProgram } from '../programs/run-program.js';
import { QemuError } from '../qemu-error.js';
import type { Verbs } from './order.js';

async function growRoot(host: Host, folder: MachineFolder, { diskGb }: FlavorCopy, signal: AbortSignal): Promise<void> {
  if (diskGb * GIB <= (await diskBytes(host.disks, folder.file('root'), signal))) return;
  const { qemuImg, runAs } = host.parts;
  await runProgram(qemuImg, ['resize', '-q', '-f', 'qcow2', folder.file('root'), `${diskGb}G`], { runAs, signal });
}

/** Another flavor or another computer: the disk is kept as it was until the owner confirms, here or on the host that it was on. */
export const resizing: Verbs = {
  migrate_disk: async ({ host, work, server, signal }) => {
    const { folder } = host.machine(server);
    const hasRoot = await folder.exists('root');
    const { diskGb } = work.flavor;
    if (hasRoot && diskGb > 0 && diskGb * GIB < (await diskBytes(host.disks, folder.file('root'), signal)))
      throw new QemuError(
        'NOT_POSSIBLE',
        `the disk does not fit into the ${diskGb} GiB of the flavor ${work.flavor.name}`,
      );
    await host.stop(server, signal);
    if (work.destHost !== server.host) {
      // The disks stay as they are here; the other host brings them to itself.
      await writeFile(folder.file('move'), randomUUID());
      return;
    }
    if (!hasRoot || (await folder.exists('rootBefore'))) return;
    const copy = `${folder.file('rootBefore')}.new`;
    await copyFile(folder.file('root'), copy, constants.COPYFILE_FICLONE);
    await folder.give(copy);
    await rename(copy, folder.file('rootBefore'));
  },
  finish_migration: async ({ host, work, server, signal }) => {
    const { folder } = host.machine(server);
    const { sourceHost } = work;
    if (sourceHost !== server.host) await fetchDisks({ host, server, sourceHost, signal });
    else await folder.removeFiles('move');
    if (await folder.exists('root')) await growRoot(host, folder, work.flavor, signal);
    await makeDisks(host.disks, server, '', work.flavor, folder, signal);
    if (work.powerOn) await host.start(server, signal, work.flavor);
  },
  confirm_migration: async ({ host, work, server }) => {
    if (work.sourceHost !== server.host) return host.remove(server);
    await host.machine(server).folder.removeFiles('rootBefore');
  },
  revert_migration: async ({ host, work, server }) => {
    if (work.sourceHost !== server.host) return host.remove(server);
    const machine = host.machine(server);
    await machine.end();
    if (await machine.folder.exists('rootBefore'))
      await rename(machine.folder.file('rootBefore'), machine.folder.file('root'));
    await rm(`${machine.folder.file('rootBefore')}.new`, { force: true });
  },
};
