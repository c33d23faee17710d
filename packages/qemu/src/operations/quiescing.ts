import { hasAgent } from '../guest/guest-agent.js';
import { QemuError } from '../qemu-error.js';
import type { DriverOperations } from './operation-request.js';

/** The operations that freeze a guest's file systems while its volumes are copied, and thaw them. */
export const quiesceOperations: DriverOperations = {
  quiesce: async ({ host, work, server }) => {
    if (!hasAgent(server)) throw new QemuError('UNSUPPORTED', 'the image declares no guest agent');
    const { by, seconds, again } = work;
    await host.frozenGuests[again ? 'keepFrozen' : 'begin'](host.folderOf(server.id), by, seconds);
  },
  unquiesce: ({ host, work, server }) => host.frozenGuests.end(host.folderOf(server.id), work.by),
};
