import {
  awaitStatements,
  batchStatement,
  hotStatement,
  insertRows,
  lockName,
  type Store,
  type Tx,
} from '@apistrata/record-store';
import { CompiledQuery, sql } from 'kysely';
import type { Notification } from './notification.js';

/** A stored event with its position. */
export interface StoredEvent {
  readonly position: number;
  readonly id: string;
  readonly type: string;
  readonly serverId: string | null;
  /** The {@link Notification} as JSON. */
  readonly body: string;
}

/** Expired events that were deleted. */
export interface PurgedEvents {
  readonly events: readonly { readonly position: number | null; readonly type: string }[];
  /** The position of each listener, by name. */
  readonly positions: ReadonlyMap<string, number>;
  /** Whether more expired events may exist. */
  readonly hasMore: boolean;
}

const EVENT_COLUMNS = ['id', 'revision', 'data', 'event_type', 'server_id', 'created_at'] as const;

const insertEvent = hotStatement(({ db }) =>
  db.insertInto('notifications').values(Object.fromEntries(EVENT_COLUMNS.map((column) => [column, '']))),
);

/** Maximum number of events that one statement orders, reads or deletes. */
const BATCH_SIZE = 200;

/**
 * A raw query, because a prepared statement would keep a plan for the table's size at the time when the connection was
 * opened.
 */
const assignPositions = CompiledQuery.raw(
  `update notifications set position = (select position from notification_cursors where name = '') + fresh.n
     from (select seq as s, row_number() over (order by seq) as n from notifications
       where position is null order by seq limit ${BATCH_SIZE}) as fresh
     where notifications.seq = fresh.s`,
);

/**
 * Stores each event in the transaction of the change that it describes, so that neither exists without the other.
 * Concurrent transactions can become visible in any order, so events receive their positions only after the commit.
 * Therefore, a reader that has reached a position has not missed any earlier event. Events of one server are in the
 * order in which they occurred.
 */
export class Outbox {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Stores an event in the transaction of the change that it describes. */
  async add(tx: Tx, event: Notification, serverId: string | null): Promise<void> {
    const row = [event.message_id, 0, JSON.stringify(event), event.event_type, serverId, Date.now()];
    const insertOne = (values: readonly unknown[]) => insertEvent(tx, values).then(() => {});
    await batchStatement(tx, 'insert notifications', row, insertOne, (rows) =>
      insertRows(tx, 'notifications', EVENT_COLUMNS, rows),
    );
  }

  /** Returns whether events without a position exist. */
  async hasUnorderedEvents(): Promise<boolean> {
    const { db } = this.#store;
    const unorderedEvents = await db
      .selectFrom('notifications')
      .select('seq')
      .where('position', 'is', null)
      .limit(1)
      .execute();
    return unorderedEvents.length > 0;
  }

  /** Assigns positions to new events. Returns whether more events may exist. */
  async orderNewEvents(): Promise<boolean> {
    return this.#store.transaction(async (tx) => {
      const [, { numAffectedRows = 0n }] = await awaitStatements([
        lockName(tx, 'notifications'),
        tx.db.executeQuery(assignPositions),
      ]);
      const assignedCount = Number(numAffectedRows);
      if (assignedCount > 0)
        await tx.db
          .updateTable('notification_cursors')
          .set({ position: sql`position + ${assignedCount}` })
          .where('name', '=', '')
          .execute();
      return assignedCount === BATCH_SIZE;
    });
  }

  /** Returns the position of the last event. */
  async lastPosition(): Promise<number> {
    return Number((await this.#cursor(this.#store, '')).position);
  }

  /** Returns events after a position, in order. */
  async eventsAfter(position: number, max = BATCH_SIZE): Promise<readonly StoredEvent[]> {
    const rows = await this.#store.db
      .selectFrom('notifications')
      .select(['id', 'event_type', 'server_id', 'data', 'position'])
      .where('position', '>', position)
      .orderBy('position')
      .limit(max)
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
   * Deletes a batch of events that occurred before the given time, in milliseconds since the epoch. Returns these
   * events, and the positions that the listeners have reached.
   */
  async purge(before: number): Promise<PurgedEvents> {
    return this.#store.transaction(async (tx) => {
      const cursors = await tx.db.selectFrom('notification_cursors').select(['name', 'position']).execute();
      const expiredRows = tx.db
        .selectFrom('notifications')
        .select('seq')
        .where('created_at', '<', before)
        .limit(BATCH_SIZE);
      const events = await tx.db
        .deleteFrom('notifications')
        .where('seq', 'in', expiredRows)
        .returning(['position', 'event_type'])
        .execute();
      return {
        events: events.map(({ position, event_type: type }) => ({
          position: position === null ? null : Number(position),
          type,
        })),
        positions: new Map(cursors.map(({ name, position }) => [name, Number(position)])),
        hasMore: events.length === BATCH_SIZE,
      };
    });
  }

  /**
   * Registers a listener. A new listener starts after the last event.
   *
   * @param formerName the name that an earlier version used, which may contain secrets; it is replaced
   */
  async registerListener(name: string, formerName: string | undefined): Promise<void> {
    if (formerName !== undefined) await this.#rename(formerName, name);
    await this.#store.db
      .insertInto('notification_cursors')
      .values({ name, position: await this.lastPosition(), lease_until: 0 })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .execute();
    // Only one process uses a SQLite database, so the previous owner has ended.
    if (this.#store.kind === 'sqlite') await this.#update(name, undefined, { lease_until: 0 });
  }

  /**
   * Leases a listener to an owner until the given time. Returns the listener's position, or undefined if another owner
   * has leased it.
   */
  async acquire(name: string, owner: string, until: number): Promise<number | undefined> {
    const row = await this.#store.db
      .updateTable('notification_cursors')
      .set({ lease_owner: owner, lease_until: until })
      .where('name', '=', name)
      .where((eb) => eb.or([eb('lease_owner', '=', owner), eb('lease_until', '<', Date.now())]))
      .returning('position')
      .executeTakeFirst();
    return row && Number(row.position);
  }

  /** Stores the position of a listener. Returns false, without a change, if another owner has leased the listener. */
  async advance(name: string, owner: string, position: number): Promise<boolean> {
    return this.#update(name, owner, { position });
  }

  /** Ends the lease on a listener, so that another owner can acquire it immediately. */
  async release(name: string, owner: string): Promise<void> {
    await this.#update(name, owner, { lease_until: 0 });
  }

  async #rename(from: string, to: string): Promise<void> {
    const { db } = this.#store;
    const existingListener = db.selectFrom('notification_cursors').select('name').where('name', '=', to);
    await db
      .updateTable('notification_cursors')
      .set({ name: to })
      .where('name', '=', from)
      .where(({ not, exists }) => not(exists(existingListener)))
      .execute();
    await db.deleteFrom('notification_cursors').where('name', '=', from).execute();
  }

  async #update(name: string, owner: string | undefined, values: Record<string, number>): Promise<boolean> {
    const query = this.#store.db.updateTable('notification_cursors').set(values).where('name', '=', name);
    const leasedRows = owner === undefined ? query : query.where('lease_owner', '=', owner);
    return (await leasedRows.executeTakeFirstOrThrow()).numUpdatedRows === 1n;
  }

  #cursor(session: Pick<Store, 'db'>, name: string): Promise<{ position: number }> {
    return session.db
      .selectFrom('notification_cursors')
      .select('position')
      .where('name', '=', name)
      .executeTakeFirstOrThrow() as Promise<{ position: number }>;
  }
}
