import type { Server } from '../model/index.js';
import type { HostMap } from './infrastructure.js';

/**
 * Returns the availability zone of a server: its host's zone, otherwise the zone to which it is pinned, otherwise an
 * empty string.
 */
export function zoneOf({ host, pinnedZone }: Pick<Server, 'host' | 'pinnedZone'>, { hosts }: HostMap): string {
  return (host !== null && hosts.get(host)?.zone) || pinnedZone || '';
}
