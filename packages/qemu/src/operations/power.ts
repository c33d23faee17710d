import type { Server } from '@apistrata/compute-engine';
import type { GuestSecrets } from '../guest/meta-data.js';
import type { Host } from '../host.js';
import { createDisks } from '../machine/prepare-disks.js';
import { SUSPEND_FILES } from './memory.js';
import type { DriverOperations } from './operation-request.js';

/** Creates a machine's missing files, and starts the machine. */
export async function boot(
  host: Host,
  server: Server,
  imageId: string,
  secrets: GuestSecrets,
  signal: AbortSignal,
): Promise<void> {
  const { folder } = host.machine(server);
  await folder.createFolder();
  await createDisks(host.diskTools, server, imageId, server.flavor, folder, signal);
  if (!(await folder.exists('configDrive'))) await host.writeConfigDrive(server, secrets, signal);
  await host.start(server, signal);
}

/** The operations that build, delete, start and stop servers. */
export const powerOperations: DriverOperations = {
  inject_network_info: async () => {},
  spawn: async ({ host, work, server, signal }) => {
    try {
      await boot(host, server, server.imageId, work, signal);
    } catch (error) {
      // A server whose build failed has no host, so no later operation would remove its files. An aborted build,
      // however, is continued by another process.
      if (!signal.aborted) await host.remove(server);
      throw error;
    }
  },
  destroy: ({ host, server }) => host.remove(server),
  leave: ({ host, server }) => host.removeLocalCopy(server.host, server),
  power_on: async ({ host, server, signal }) => {
    await host.start(server, signal);
  },
  power_off: ({ host, server, signal }) => host.stop(server, signal),
  soft_delete: ({ host, server, signal }) => host.stop(server, signal),
  restore: async ({ host, server, signal }) => {
    await host.start(server, signal);
  },
  /** Both reboot types restart the QEMU process, so that changes to the server take effect. */
  reboot: async ({ host, work, server, signal }) => {
    if (work.type === 'SOFT') await host.stop(server, signal);
    else await host.machine(server).powerOff();
    await host.machine(server).folder.removeFiles(...SUSPEND_FILES);
    await host.start(server, signal);
  },
};
