import type { Server } from '../model/index.js';
import type { HostMap } from './infrastructure.js';

/** The availability zone of a server: that of its host, else the one it is bound to, else ''. */
export function zoneOf({ host, pinnedZone }: Pick<Server, 'host' | 'pinnedZone'>, { hosts }: HostMap): string {
  return (host !== null && hosts.get(host)?.zone) || pinnedZone || '';
}
