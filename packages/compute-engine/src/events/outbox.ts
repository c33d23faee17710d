import { lockName, type Store, type Tx } from '@apistrata/record-store';
import { sql } from 'kysely';
import type { Notification } from './notification.js';

/** One event as it is told: where it stands in the order of all, and its text. */
export interface ToldEvent {
  readonly position: number;
  readonly id: string;
  readonly type: string;
  readonly serverId: string | null;
  /** JSON of a {@link Notification}. */
  readonly body: string;
}

/** Events that were removed because they were too old. */
export interface PurgedEvents {
  readonly gone: readonly { readonly position: number | null; readonly type: string }[];
  /** How far each listener had come. */
  readonly places: ReadonlyMap<string, number>;
  readonly more: boolean;
}

/** Events that are put in order, read or removed at once. */
const BATCH = 200;

/**
 * Events written in the transactions of what they tell, so that neither is there without the other. Those of several
 * transactions at once become visible in any order; each gets its place in the order of all only then, and whoever has
 * read up to a place has missed nothing before it. Those of one server stand in the order in which they happened.
 */
export class Outbox {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  async add(tx: Tx, event: Notification, serverId: string | null): Promise<void> {
    await tx.db
      .insertInto('notifications')
      .values({
        id: event.message_id,
        revision: 0,
        data: JSON.stringify(event),
        event_type: event.event_type,
        server_id: serverId,
        created_at: Date.now(),
      })
      .execute();
  }

  /** Gives what has no place yet one behind all others. True when there was something. */
  async order(): Promise<boolean> {
    const { db } = this.#store;
    const fresh = await db.selectFrom('notifications').select('seq').where('position', 'is', null).limit(1).execute();
    if (fresh.length === 0) return false;
    return this.#store.transaction(async (tx) => {
      await lockName(tx, 'notifications');
      const last = Number((await this.#cursor(tx, '')).position);
      const { numAffectedRows = 0n } = await sql`update notifications set position = cast(${last} as bigint) + fresh.n
        from (select seq as s, row_number() over (order by seq) as n from notifications
          where position is null order by seq limit ${sql.lit(BATCH)}) as fresh
        where notifications.seq = fresh.s`.execute(tx.db);
      const position = last + Number(numAffectedRows);
      await tx.db.updateTable('notification_cursors').set({ position }).where('name', '=', '').execute();
      return true;
    });
  }

  /** The place of the last event. */
  async last(): Promise<number> {
    return Number((await this.#cursor(this.#store, '')).position);
  }

  /** Events behind a place, in order. */
  async after(position: number, most = BATCH): Promise<readonly ToldEvent[]> {
    const rows = await this.#store.db
      .selectFrom('notifications')
      .select(['id', 'event_type', 'server_id', 'data', 'position'])
      .where('position', '>', position)
      .orderBy('position')
      .limit(most)
      .execute();
    return rows.map((row) => ({
      position: Number(row.position),
      id: row.id,
      type: row.event_type,
      serverId: row.server_id,
      body: row.data,
    }));
  }

  /**
   * Removes what happened before a time, a batch of it, and says what that was and where the listeners were then.
   * `more`: there may be more.
   */
  async purge(before: number): Promise<PurgedEvents> {
    return this.#store.transaction(async (tx) => {
      const places = await tx.db.selectFrom('notification_cursors').select(['name', 'position']).execute();
      const old = tx.db.selectFrom('notifications').select('seq').where('created_at', '<', before).limit(BATCH);
      const gone = await tx.db
        .deleteFrom('notifications')
        .where('seq', 'in', old)
        .returning(['position', 'event_type'])
        .execute();
      return {
        gone: gone.map(({ position, event_type: type }) => ({
          position: position === null ? null : Number(position),
          type,
        })),
        places: new Map(places.map(({ name, position }) => [name, Number(position)])),
        more: gone.length === BATCH,
      };
    });
  }

  /** A listener that is new hears of what happens from now on. */
  async join(name: string): Promise<void> {
    await this.#store.db
      .insertInto('notification_cursors')
      .values({ name, position: await this.last(), lease_until: 0 })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .execute();
    // A SQLite database has one process: whoever had it is gone.
    if (this.#store.kind === 'sqlite') await this.#update(name, undefined, { lease_until: 0 });
  }

  /** Makes a listener this owner's for a while; its place, or undefined when it is somebody else's. */
  async take(name: string, owner: string, until: number): Promise<number | undefined> {
    const row = await this.#store.db
      .updateTable('notification_cursors')
      .set({ lease_owner: owner, lease_until: until })
      .where('name', '=', name)
      .where((eb) => eb.or([eb('lease_owner', '=', owner), eb('lease_until', '<', Date.now())]))
      .returning('position')
      .executeTakeFirst();
    return row && Number(row.position);
  }

  /** Writes down how far a listener has come; false when it is somebody else's meanwhile. */
  async advance(name: string, owner: string, position: number): Promise<boolean> {
    return this.#update(name, owner, { position });
  }

  async release(name: string, owner: string): Promise<void> {
    await this.#update(name, owner, { lease_until: 0 });
  }

  async #update(name: string, owner: string | undefined, values: Record<string, number>): Promise<boolean> {
    const query = this.#store.db.updateTable('notification_cursors').set(values).where('name', '=', name);
    const mine = owner === undefined ? query : query.where('lease_owner', '=', owner);
    return (await mine.executeTakeFirstOrThrow()).numUpdatedRows === 1n;
  }

  #cursor(session: Pick<Store, 'db'>, name: string): Promise<{ position: number }> {
    return session.db
      .selectFrom('notification_cursors')
      .select('position')
      .where('name', '=', name)
      .executeTakeFirstOrThrow() as Promise<{ position: number }>;
  }
}
