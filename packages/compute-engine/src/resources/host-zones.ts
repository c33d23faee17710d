import type { Session } from '@apistrata/record-store';
import { LIVE_SERVERS, tables } from '../schema/tables.js';

/**
 * Returns the availability zones of a host, without duplicates.
 *
 * @param excludedSeq the `seq` of an aggregate to ignore
 */
export async function zonesOfHost(session: Session, host: string, excludedSeq?: number): Promise<readonly string[]> {
  const aggregates = await tables.aggregates.find(session, (q) => q.orderBy('seq'));
  const zones = aggregates
    .filter(({ seq, hosts }) => seq !== excludedSeq && hosts.includes(host))
    .flatMap(({ metadata }) => metadata.availability_zone ?? []);
  return [...new Set(zones)];
}

/** Returns the given hosts that have servers, including soft-deleted servers. */
export async function findHostsWithServers(session: Session, hosts: readonly string[]): Promise<readonly string[]> {
  if (hosts.length === 0) return [];
  const rows = await session.db
    .selectFrom('servers')
    .select('host')
    .distinct()
    .where('host', 'in', hosts)
    .where(LIVE_SERVERS)
    .execute();
  return rows.map(({ host }) => host);
}
