import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import type { FlavorCopy } from '@apistrata/compute-engine';
import type { Host } from '../host.js';
import { forgetBefore, keepDisks, restoreDisks } from '../machine/disks-before.js';
import type { MachineFolder } from '../machine/machine-folder.js';
import { diskBytes, GIB, makeDisks } from '../machine/prepare-disks.js';
import { untilFree } from '../machine/until-free.js';
import { fetchDisks } from '../moves/fetch-disks.js';
import { askValue, untilReached } from '../moves/questions.js';
import { runProgram } from '../programs/run-program.js';
import { QemuError } from '../qemu-error.js';
import type { Verbs } from './order.js';

async function growRoot(host: Host, folder: MachineFolder, { diskGb }: FlavorCopy, signal: AbortSignal): Promise<void> {
  if (diskGb * GIB <= (await diskBytes(host.disks, folder.file('root'), signal))) return;
  const { qemuImg, runAs, diskWaitMs } = host.parts;
  const args = ['resize', '-q', '-f', 'qcow2', folder.file('root'), `${diskGb}G`];
  await untilFree(() => runProgram(qemuImg, args, { runAs, signal }), diskWaitMs, signal);
}

/**
 * Another flavor or another computer: until the owner confirms, disks keep how they were where they stay, and those that another
 * host has fetched stay here as well.
 */
export const resizing: Verbs = {
  migrate_disk: async ({ host, work, server, signal }) => {
    const machine = host.machine(server);
    const { folder } = machine;
    const hasRoot = await folder.exists('root');
    const { diskGb } = work.flavor;
    if (hasRoot && diskGb > 0 && diskGb * GIB < (await diskBytes(host.disks, folder.file('root'), signal)))
      throw new QemuError(
        'NOT_POSSIBLE',
        `the disk does not fit into the ${diskGb} GiB of the flavor ${work.flavor.name}`,
      );
    // What disks have kept until now is of a move that failed: the guest has gone on since.
    if (await machine.running()) await forgetBefore(host, server.id, signal);
    await host.stop(server, signal);
    const elsewhere = work.destHost !== server.host;
    if (!elsewhere || (await host.shares(work.destHost))) await keepDisks(host, folder, signal);
    if (elsewhere) await writeFile(folder.file('move'), randomUUID());
  },
  finish_migration: async ({ host, work, server, signal }) => {
    const { folder } = host.machine(server);
    const { sourceHost } = work;
    if (sourceHost !== server.host) await fetchDisks({ host, server, sourceHost, signal, waits: true });
    else await folder.removeFiles('move');
    if (await folder.exists('root')) await growRoot(host, folder, work.flavor, signal);
    await makeDisks(host.disks, server, '', work.flavor, folder, signal);
    if (work.powerOn) await host.start(server, signal, work.flavor);
  },
  confirm_migration: async ({ host, work, server, signal }) => {
    const { id: serverId, host: there } = server;
    if (work.sourceHost === there) return forgetBefore(host, serverId, signal);
    // The one that has the disks open now has to do it.
    if (there !== null && (await host.shares(there)))
      await untilReached(() => askValue(host, there, { ask: 'forget before', serverId }, signal), signal);
    await host.leaveTo(there, server);
  },
  revert_migration: async ({ host, work, server, signal }) => {
    const { sourceHost } = work;
    const here = sourceHost === server.host;
    const machine = host.machine(server);
    await machine.end();
    if (here || (await host.shares(sourceHost))) await restoreDisks(host, machine.folder, signal);
    if (!here) await host.leaveTo(sourceHost, server);
  },
};
