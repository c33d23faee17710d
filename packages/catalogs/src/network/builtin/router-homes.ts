import type { Rows, Store } from '@apistrata/record-store';
import type { Kysely } from 'kysely';
import type { PlanHosts } from '../network-plan.js';

interface Home {
  readonly routerId: string;
  readonly host: string;
}

async function homesOf(db: Kysely<Rows>, needed: readonly string[], self: string): Promise<readonly Home[]> {
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
 * The host of each router. A router is where it was needed first, and stays there: connections that it translates end when it
 * moves. It does when its host is lost, to one that needs it.
 *
 * @param needed routers that guests of this host need
 * @returns by router, those that are on this host for the guests of others among them
 */
export async function routerHomes(
  store: Store,
  needed: readonly string[],
  { self, alive }: PlanHosts,
): Promise<ReadonlyMap<string, string>> {
  const lives = new Set([self, ...alive]);
  let homes = await homesOf(store.db, needed, self);
  const known = new Set(homes.map(({ routerId }) => routerId));
  // Always in the same order, so that two hosts never wait for each other in a circle.
  const homeless = needed.filter((routerId) => !known.has(routerId)).sort();
  const lost = homes.filter(({ host }) => !lives.has(host)).sort((a, b) => (a.routerId < b.routerId ? -1 : 1));
  if (homeless.length > 0 || lost.length > 0) {
    homes = await store.transaction(async (tx) => {
      // Others may do the same now: one of them has it afterwards, and all see which.
      if (homeless.length > 0)
        await tx.db
          .insertInto('router_homes')
          .values(homeless.map((routerId) => ({ router_id: routerId, host: self })))
          .onConflict((conflict) => conflict.doNothing())
          .execute();
      for (const { routerId, host } of lost)
        await tx.db
          .updateTable('router_homes')
          .set({ host: self })
          .where('router_id', '=', routerId)
          .where('host', '=', host)
          .execute();
      return homesOf(tx.db, needed, self);
    });
  }
  return new Map(homes.map(({ routerId, host }) => [routerId, host]));
}

/** Forgets where routers are that nobody needs any more. */
export async function leaveHomes(store: Store, routerIds: readonly string[], self: string): Promise<void> {
  await store.transaction(async (tx) => {
    await tx.db
      .deleteFrom('router_homes')
      .where('router_id', 'in', [...routerIds])
      .where('host', '=', self)
      .execute();
  });
}
