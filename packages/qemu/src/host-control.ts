import { loadavg, uptime } from 'node:os';
import { type HostControl, uptimeText } from '@apistrata/compute-engine/drivers';
import type { Host } from './host.js';

/** Images are fetched for nobody in particular. */
const SERVICE = { userId: 'service', projectId: 'service', roles: ['admin'], isAdmin: true };

/** What can be done with this computer beside its machines: it is neither switched nor put into maintenance from here. */
export function hostControl(host: Host): Pick<HostControl, 'hostUptime' | 'cacheImages'> {
  return {
    hostUptime: async () => uptimeText(Date.now(), uptime() * 1000, loadavg()),
    async cacheImages(_name, imageIds) {
      for (const id of imageIds) await host.disks.cache.fetch(SERVICE, id, 0, host.leaving);
    },
  };
}
