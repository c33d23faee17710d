import type { Rows, Store } from '@apistrata/record-store';
import type { Kysely } from 'kysely';
import type { PlanHosts } from '../network-plan.js';

interface Placement {
  readonly routerId: string;
  readonly host: string;
}

async function findPlacements(
  db: Kysely<Rows>,
  needed: readonly string[],
  self: string,
): Promise<readonly Placement[]> {
  const rows = await db
    .selectFrom('router_homes')
    .select(['router_id', 'host'])
    .where((where) =>
      where.or([where('host', '=', self), ...(needed.length > 0 ? [where('router_id', 'in', [...needed])] : [])]),
    )
    .execute();
  return rows.map(({ router_id: routerId, host }) => ({ routerId: String(routerId), host: String(host) }));
}

/**
 * Returns the host on which each router runs. A router is placed on the first host that needs it and stays there,
 * because a move breaks connections with translated addresses. If that host fails, the router is placed on another host
 * that needs it.
 *
 * @param needed the ids of routers that guests on this host need
 * @returns the hosts by router id, including routers on this host that only guests on other hosts need
 */
export async function placeRouters(
  store: Store,
  needed: readonly string[],
  hosts: PlanHosts,
): Promise<ReadonlyMap<string, string>> {
  const { self } = hosts;
  const aliveHosts = new Set([self, ...hosts.alive]);
  let placements = await findPlacements(store.db, needed, self);
  const knownIds = new Set(placements.map(({ routerId }) => routerId));
  // The ids are sorted, so that concurrent transactions of two hosts never deadlock.
  const unplacedIds = needed.filter((routerId) => !knownIds.has(routerId)).sort();
  const lostPlacements = placements
    .filter(({ host }) => !aliveHosts.has(host))
    .sort((a, b) => (a.routerId < b.routerId ? -1 : 1));
  if (unplacedIds.length > 0 || lostPlacements.length > 0) {
    placements = await store.transaction(async (tx) => {
      // If several hosts place a router concurrently, the first insertion takes effect, and all hosts then read the
      // same placement.
      if (unplacedIds.length > 0)
        await tx.db
          .insertInto('router_homes')
          .values(unplacedIds.map((routerId) => ({ router_id: routerId, host: self })))
          .onConflict((conflict) => conflict.doNothing())
          .execute();
      for (const { routerId, host } of lostPlacements)
        await tx.db
          .updateTable('router_homes')
          .set({ host: self })
          .where('router_id', '=', routerId)
          .where('host', '=', host)
          .execute();
      return findPlacements(tx.db, needed, self);
    });
  }
  return new Map(placements.map(({ routerId, host }) => [routerId, host]));
}

/** Removes the placements of routers on this host that are no longer needed. */
export async function removePlacements(store: Store, routerIds: readonly string[], self: string): Promise<void> {
  await store.transaction(async (tx) => {
    await tx.db
      .deleteFrom('router_homes')
      .where('router_id', 'in', [...routerIds])
      .where('host', '=', self)
      .execute();
  });
}
