import type { Store } from '@apistrata/record-store';
import type { StoredEvent } from './outbox.js';

/** An event that a webhook did not accept in any attempt. */
export interface DeadLetter {
  /** Identifies the dead letter. Newer dead letters have higher numbers. */
  readonly number: number;
  /** The name of the webhook. */
  readonly webhook: string;
  /** The `message_id` of the event. */
  readonly eventId: string;
  /** The type of the event, such as `instance.create.end`. */
  readonly type: string;
  readonly serverId: string | null;
  /** The reason why the last attempt failed. */
  readonly reason: string;
  /** The number of times that the event was sent. */
  readonly attempts: number;
  /** The time of the last attempt, in milliseconds since the epoch. */
  readonly failedAt: number;
  /** Whether an administrator has requested that the event be sent again. */
  readonly resendRequested: boolean;
}

/** A dead letter that is due to be sent again. */
export interface DueDeadLetter {
  readonly number: number;
  readonly attempts: number;
  readonly event: StoredEvent;
}

/** The maximum number of dead letters in a page of the list, and in one round of resending. */
const PAGE_SIZE = 100;

/** Stores events that webhooks did not accept. They do not delay later events, and are sent again on request. */
export class DeadLetters {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * Returns up to 100 dead letters of all webhooks, oldest first.
   * @param after number of the last dead letter of the previous page
   */
  async list(after = 0): Promise<readonly DeadLetter[]> {
    const rows = await this.#store.db
      .selectFrom('notification_failures')
      .select(['seq', 'webhook', 'event_id', 'event_type', 'server_id', 'reason', 'attempts', 'failed_at', 'due'])
      .where('seq', '>', after)
      .orderBy('seq')
      .limit(PAGE_SIZE)
      .execute();
    return rows.map((row) => ({
      number: Number(row.seq),
      webhook: row.webhook,
      eventId: row.event_id,
      type: row.event_type,
      serverId: row.server_id,
      reason: row.reason,
      attempts: Number(row.attempts),
      failedAt: Number(row.failed_at),
      resendRequested: Number(row.due) === 1,
    }));
  }

  /**
   * Requests that dead letters be sent again by the process that serves their webhook. Dead letters that the webhook
   * then accepts are removed. Returns the number of dead letters that will be sent.
   *
   * @param numbers numbers of the dead letters; default: all
   */
  async retry(numbers?: readonly number[]): Promise<number> {
    const query = this.#store.db.updateTable('notification_failures').set({ due: 1 });
    const selectedRows = numbers ? query.where('seq', 'in', numbers) : query;
    const { numUpdatedRows } = await selectedRows.executeTakeFirstOrThrow();
    return Number(numUpdatedRows);
  }

  /** Stores an event that a webhook did not accept. Replaces an earlier dead letter for the same event and webhook. */
  async add(webhook: string, event: StoredEvent, reason: string, attempts: number): Promise<void> {
    const result = { reason, attempts, failed_at: Date.now(), due: 0 };
    await this.#store.db
      .insertInto('notification_failures')
      .values({
        id: `${event.id} ${webhook}`,
        revision: 0,
        data: event.body,
        webhook,
        event_id: event.id,
        event_type: event.type,
        server_id: event.serverId,
        ...result,
      })
      .onConflict((conflict) => conflict.column('id').doUpdateSet(result))
      .execute();
  }

  /** Returns the dead letters of a webhook that are due to be sent again, oldest first. */
  async listDue(webhook: string): Promise<readonly DueDeadLetter[]> {
    const rows = await this.#store.db
      .selectFrom('notification_failures')
      .select(['seq', 'event_id', 'event_type', 'server_id', 'attempts', 'data'])
      .where('webhook', '=', webhook)
      .where('due', '=', 1)
      .orderBy('seq')
      .limit(PAGE_SIZE)
      .execute();
    return rows.map((row) => ({
      number: Number(row.seq),
      attempts: Number(row.attempts),
      event: { position: 0, id: row.event_id, type: row.event_type, serverId: row.server_id, body: row.data },
    }));
  }

  /** Removes a dead letter after it was delivered successfully. */
  async remove(number: number): Promise<void> {
    await this.#store.db.deleteFrom('notification_failures').where('seq', '=', number).execute();
  }

  /** Removes dead letters whose last attempt was before a time in milliseconds since the epoch. */
  async purge(before: number): Promise<void> {
    await this.#store.db.deleteFrom('notification_failures').where('failed_at', '<', before).execute();
  }
}
