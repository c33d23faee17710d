import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { Server } from '@apistrata/compute-engine';
import { createRescueDisk } from '../machine/prepare-disks.js';
import { QemuError } from '../qemu-error.js';
import { SUSPEND_FILES } from './memory.js';
import type { DriverOperations } from './operation-request.js';
import { boot } from './power.js';

const SYSTEM_FILES = [
  ...(['root', 'rootBase', 'rootImage', 'cdrom', 'kernel', 'ramdisk', 'commandLine'] as const),
  ...(['firmwareVariables', 'tpm2State', 'tpm1State', 'configDrive', ...SUSPEND_FILES] as const),
] as const;
const RESCUE_FILES = [
  'rescue',
  'rescueBase',
  'rescueImage',
  'rescueCdrom',
  'rescueKernel',
  'rescueRamdisk',
  'rescueCommandLine',
  'rescueConfigDrive',
] as const;

function volumeIdsOf({ blockDevices }: Server): readonly string[] {
  return blockDevices.flatMap(({ volumeId, destination }) =>
    volumeId !== null && destination === 'volume' ? [volumeId] : [],
  );
}

/** The operations that change the disk from which a machine boots. */
export const systemOperations: DriverOperations = {
  rebuild: async ({ host, work, server, signal }) => {
    const machine = host.machine(server);
    await machine.powerOff();
    await machine.folder.removeFiles(...SYSTEM_FILES, ...RESCUE_FILES);
    if (!work.preserveEphemeral) await rm(machine.folder.disk('ephemeral'), { force: true });
    await boot(host, server, work.imageId, work, signal);
  },
  /** Uses the existing disks if they are on shared storage, otherwise new ones. Waits until the disks are unlocked. */
  evacuate: async ({ host, work, server, signal }) => {
    const { adminPassword, sharedStorage } = work;
    const { folder } = host.machine(server);
    const hasSharedDisks = await folder.hasSharedDisks();
    // If the folder exists, an earlier attempt of this job has created it.
    const isRetry = existsSync(folder.path);
    if (!isRetry && sharedStorage !== null && sharedStorage !== hasSharedDisks)
      throw new QemuError(
        'UNSUPPORTED',
        `the disks of the server are ${hasSharedDisks ? '' : 'not '}on storage that this host shares`,
      );
    const { sourceHost } = work;
    try {
      for (const volumeId of volumeIdsOf(server)) await host.volumes.detach(sourceHost, server.id, volumeId);
      await boot(host, server, server.imageId, { adminPassword, files: [] }, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      for (const volumeId of volumeIdsOf(server)) await host.volumes.reattach(sourceHost, server, volumeId);
      await (hasSharedDisks ? host.removeLocalCopy(sourceHost, server) : host.remove(server));
      throw error;
    }
  },
  rescue: async ({ host, work, server, signal }) => {
    const machine = host.machine(server);
    const { folder } = machine;
    if ((await folder.exists('rescueConfigDrive')) && (await machine.connectIfRunning())) return;
    await host.stop(server, signal);
    await createRescueDisk(host.diskTools, server, work.imageId, folder, signal);
    await host.writeConfigDrive(server, { adminPassword: work.adminPassword, files: [] }, signal, 'rescueConfigDrive');
    await host.start(server, signal);
  },
  unrescue: async ({ host, server, signal }) => {
    const machine = host.machine(server);
    if ((await machine.folder.exists('rescue')) || (await machine.folder.exists('rescueCdrom')))
      await machine.powerOff();
    await machine.folder.removeFiles(...RESCUE_FILES);
    await host.start(server, signal);
  },
};
