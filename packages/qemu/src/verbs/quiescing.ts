import { hasAgent } from '../guest/guest-agent.js';
import { QemuError } from '../qemu-error.js';
import type { Verbs } from './order.js';

/** Files of guests at rest, for as long as somebody copies their volumes. */
export const quiescing: Verbs = {
  quiesce: async ({ host, work, server }) => {
    if (!hasAgent(server)) throw new QemuError('NOT_POSSIBLE', 'the image says of no agent that could do it');
    const { by, seconds, again } = work;
    await host.quietGuests[again ? 'keep' : 'begin'](host.folderOf(server.id), by, seconds);
  },
  unquiesce: ({ host, work, server }) => host.quietGuests.end(host.folderOf(server.id), work.by),
};
