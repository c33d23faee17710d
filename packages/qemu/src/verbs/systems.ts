import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { Server } from '@apistrata/compute-engine';
import { makeRescueDisk } from '../machine/prepare-disks.js';
import { QemuError } from '../qemu-error.js';
import { boot } from './life.js';
import { SAVED } from './memory.js';
import type { Verbs } from './order.js';

const SYSTEM = ['root', 'rootBase', 'rootImage', 'kernel', 'ramdisk', 'commandLine', 'configDrive', ...SAVED] as const;
const RESCUE = [
  'rescue',
  'rescueBase',
  'rescueImage',
  'rescueKernel',
  'rescueRamdisk',
  'rescueCommandLine',
  'rescueConfigDrive',
] as const;

function volumesOf({ blockDevices }: Server): readonly string[] {
  return blockDevices.flatMap(({ volumeId, destination }) =>
    volumeId !== null && destination === 'volume' ? [volumeId] : [],
  );
}

/** What a machine boots from. */
export const systems: Verbs = {
  rebuild: async ({ host, work, server, signal }) => {
    const machine = host.machine(server);
    await machine.end();
    await machine.folder.removeFiles(...SYSTEM, ...RESCUE);
    if (!work.preserveEphemeral) await rm(machine.folder.disk('ephemeral'), { force: true });
    await boot(host, server, work.imageId, work, signal);
  },
  /** With its own disks where this host has them, else with new ones. Whoever still has them open is waited for. */
  evacuate: async ({ host, work, server, signal }) => {
    const { adminPassword, sharedStorage } = work;
    const { folder } = host.machine(server);
    const there = await folder.hasSharedDisks();
    // What is here of the server already has been made by this work, before somebody died.
    const begun = existsSync(folder.path);
    if (!begun && sharedStorage !== null && sharedStorage !== there)
      throw new QemuError(
        'NOT_POSSIBLE',
        `the disks of the server are ${there ? '' : 'not '}on storage that this host shares`,
      );
    const { sourceHost } = work;
    try {
      for (const volumeId of volumesOf(server)) await host.volumes.takeFrom(sourceHost, server.id, volumeId);
      await boot(host, server, server.imageId, { adminPassword, files: [] }, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      for (const volumeId of volumesOf(server)) await host.volumes.giveBackTo(sourceHost, server, volumeId);
      await (there ? host.leaveTo(sourceHost, server) : host.remove(server));
      throw error;
    }
  },
  rescue: async ({ host, work, server, signal }) => {
    const machine = host.machine(server);
    const { folder } = machine;
    if ((await folder.exists('rescueConfigDrive')) && (await machine.running())) return;
    await host.stop(server, signal);
    await makeRescueDisk(host.disks, server, work.imageId, folder, signal);
    await host.writeConfigDrive(server, { adminPassword: work.adminPassword, files: [] }, signal, 'rescueConfigDrive');
    await host.start(server, signal);
  },
  unrescue: async ({ host, server, signal }) => {
    const machine = host.machine(server);
    if (await machine.folder.exists('rescue')) await machine.end();
    await machine.folder.removeFiles(...RESCUE);
    await host.start(server, signal);
  },
};
