import { loadavg, uptime } from 'node:os';
import { formatUptime, type HostControl } from '@apistrata/compute-engine/drivers';
import type { Host } from './host.js';

/** The caller that fetches images when no user has requested them. */
const SERVICE_CALLER = { userId: 'service', projectId: 'service', roles: ['admin'], isAdmin: true };

/**
 * Returns the host operations that QEMU hosts support. Power and maintenance actions on the computer are not supported.
 */
export function createHostControl(host: Host): Pick<HostControl, 'hostUptime' | 'cacheImages'> {
  return {
    hostUptime: async () => formatUptime(Date.now(), uptime() * 1000, loadavg()),
    async cacheImages(_name, imageIds) {
      for (const id of imageIds) await host.diskTools.cache.fetchImage(SERVICE_CALLER, id, 0, host.closing);
    },
  };
}
