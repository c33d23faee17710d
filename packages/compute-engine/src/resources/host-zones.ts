import type { Session } from '@apistrata/record-store';
import { LIVE, tables } from '../schema/tables.js';

/** Zones that aggregates put a host in, without repeats; one aggregate may be left out. */
export async function zonesOfHost(session: Session, host: string, exceptSeq?: number): Promise<readonly string[]> {
  const aggregates = await tables.aggregates.find(session, (q) => q.orderBy('seq'));
  const zones = aggregates
    .filter(({ seq, hosts }) => seq !== exceptSeq && hosts.includes(host))
    .flatMap(({ metadata }) => metadata.availability_zone ?? []);
  return [...new Set(zones)];
}

/** Those of the hosts that have servers, counting the soft-deleted ones. */
export async function hostsWithServers(session: Session, hosts: readonly string[]): Promise<readonly string[]> {
  if (hosts.length === 0) return [];
  const rows = await session.db
    .selectFrom('servers')
    .select('host')
    .distinct()
    .where('host', 'in', hosts)
    .where(LIVE)
    .execute();
  return rows.map(({ host }) => host);
}
