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
 * Returns the host of each router. A router is placed where it is first needed and stays there, because a move breaks
 * translated connections. If its host fails, it moves to a host that needs it.
 *
 * @param needed routers that guests of this host need
 * @returns hosts by router, including routers on this host that only guests of other hosts need
 */
export async function placeRouters(
  store: Store,
  needed: readonly string[],
  hosts: PlanHosts,
): Promise<ReadonlyMap<string, string>> {
  const { self } = hosts;
  const alive = new Set([self, ...hosts.alive]);
  let placements = await findPlacements(store.db, needed, self);
  const knownIds = new Set(placements.map(({ routerId }) => routerId));
  // Sorted, so that two hosts never deadlock.
  const unplaced = needed.filter((routerId) => !knownIds.has(routerId)).sort();
  const lost = placements.filter(({ host }) => !alive.has(host)).sort((a, b) => (a.routerId < b.routerId ? -1 : 1));
  if (unplaced.length > 0 || lost.length > 0) {
    placements = await store.transaction(async (tx) => {
      // Other hosts may do the same concurrently: each router gets one host, which all of them then read.
      if (unplaced.length > 0)
        await tx.db
          .insertInto('router_homes')
          .values(unplaced.map((routerId) => ({ router_id: routerId, host: self })))
          .onConflict((conflict) => conflict.doNothing())
          .execute();
      for (const { routerId, host } of lost)
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

/** Removes the placement of routers that are no longer needed. */
export async function removePlacements(store: Store, routerIds: readonly string[], self: string): Promise<void> {
  await store.transaction(async (tx) => {
    await tx.db
      .deleteFrom('router_homes')
      .where('router_id', 'in', [...routerIds])
      .where('host', '=', self)
      .execute();
  });
}
