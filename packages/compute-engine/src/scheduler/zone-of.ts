import type { Server } from '../model/index.js';
import type { HostMap } from './infrastructure.js';

/** Returns the availability zone of a server: that of its host, otherwise the one to which it is pinned, otherwise ''. */
export function zoneOf({ host, pinnedZone }: Pick<Server, 'host' | 'pinnedZone'>, { hosts }: HostMap): string {
  return (host !== null && hosts.get(host)?.zone) || pinnedZone || '';
}
