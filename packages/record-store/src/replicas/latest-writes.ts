import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { DatabaseUnavailable } from '../errors/database-unavailable.js';
import { channelOf } from '../postgres/notification-listener.js';
import type { Session } from '../store/database.js';

/** Represents all readers: a write is visible to callers of any project. */
export const ALL_PROJECTS = '*';

/** Receives announcements of writes; shared by all processes that use a database. */
export const WRITES = 'writes';

/** The maximum payload of a PostgreSQL notification, in bytes. */
const MAX_PAYLOAD_BYTES = 7999;

/**
 * Stores the time of the last write for each project or user, by any process that shares the database. It is the time of
 * `performance.now()` at which this process learned of the write, which is never before the commit.
 */
export class LatestWrites {
  readonly #session: Session;
  readonly #retentionMs: number;
  readonly #process = randomUUID();
  /** In the order of the writes, oldest first. */
  readonly #latest = new Map<string, number>();
  #next: { readonly owners: Set<string>; readonly sent: Promise<void> } | undefined;

  /** @param retentionMs how long writes are remembered, in milliseconds */
  constructor(session: Session, retentionMs: number) {
    this.#session = session;
    this.#retentionMs = retentionMs;
  }

  /**
   * Returns the time of the last write for one of these owners or for all owners; -Infinity if it was before the
   * retention period.
   */
  latestFor(owners: readonly string[]): number {
    return Math.max(...[...owners, ALL_PROJECTS].map((owner) => this.#latest.get(owner) ?? Number.NEGATIVE_INFINITY));
  }

  /**
   * Records a write of this process; resolves when it has been announced to the other processes.
   *
   * @throws {@link DatabaseUnavailable} if it cannot be announced; success must then not be reported
   */
  record(owners: Iterable<string>): Promise<void> {
    this.#next ??= this.#startAnnouncement();
    for (const owner of owners) {
      this.#remember(owner);
      this.#next.owners.add(owner);
    }
    return this.#next.sent;
  }

  /** Handles a notification of another process; '' if notifications may have been missed. */
  receive(notice: string): void {
    const [process, ...owners]: readonly string[] = notice === '' ? ['', ALL_PROJECTS] : JSON.parse(notice);
    if (process !== this.#process) for (const owner of owners) this.#remember(owner);
  }

  /** Announces all writes of one turn of the event loop in one notification. */
  #startAnnouncement() {
    const owners = new Set<string>();
    const send = async () => {
      await new Promise((resolve) => setImmediate(resolve));
      this.#next = undefined;
      const full = JSON.stringify([this.#process, ...owners]);
      const notice = Buffer.byteLength(full) > MAX_PAYLOAD_BYTES ? JSON.stringify([this.#process, ALL_PROJECTS]) : full;
      try {
        await sql`select pg_notify(${channelOf(WRITES)}, ${notice})`.execute(this.#session.db);
      } catch (error) {
        // The write itself is committed and must not be retried after any error.
        throw error instanceof DatabaseUnavailable ? error : new DatabaseUnavailable('broken', error);
      }
    };
    return { owners, sent: send() };
  }

  #remember(owner: string): void {
    const now = performance.now();
    this.#latest.delete(owner);
    this.#latest.set(owner, now);
    for (const [oldest, at] of this.#latest) {
      if (now - at <= this.#retentionMs) break;
      this.#latest.delete(oldest);
    }
  }
}
