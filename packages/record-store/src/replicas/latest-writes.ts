import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { DatabaseUnavailable } from '../errors/database-unavailable.js';
import { channelOf } from '../postgres/notification-listener.js';
import type { Session } from '../store/database.js';

/** Represents all readers: a write is visible to callers of any project. */
export const ALL_PROJECTS = '*';

/** The receiver of announcements of writes: all processes of a database receive the same ones. */
export const WRITES = 'writes';

/** The maximum payload of a PostgreSQL notification, in bytes. */
const LONGEST_NOTICE = 7999;

/**
 * Times of the last write for each project or user, by any process that shares the database. Times are from this
 * process's clock (`performance.now()`), of the moment when it learned of the write, which is never before the commit.
 */
export class LatestWrites {
  readonly #session: Session;
  readonly #keptMs: number;
  readonly #process = randomUUID();
  /** In the order of the writes, oldest first. */
  readonly #latest = new Map<string, number>();
  #next: { readonly owners: Set<string>; readonly sent: Promise<void> } | undefined;

  /** @param retentionMs how long writes are remembered, in milliseconds */
  constructor(session: Session, retentionMs: number) {
    this.#session = session;
    this.#keptMs = retentionMs;
  }

  /**
   * Returns when something was last written for one of these owners or for all owners; -Infinity if that was before the
   * retention period.
   */
  of(owners: readonly string[]): number {
    return Math.max(...[...owners, ALL_PROJECTS].map((owner) => this.#latest.get(owner) ?? Number.NEGATIVE_INFINITY));
  }

  /**
   * Records a write of this process; resolves when it has been announced to the other processes.
   *
   * @throws {@link DatabaseUnavailable} if it cannot be announced; success must then not be reported
   */
  made(owners: Iterable<string>): Promise<void> {
    this.#next ??= this.#announcement();
    for (const owner of owners) {
      this.#keep(owner);
      this.#next.owners.add(owner);
    }
    return this.#next.sent;
  }

  /** Handles a notification of another process; '' if some may have been missed. */
  receive(notice: string): void {
    const [process, ...owners]: readonly string[] = notice === '' ? ['', ALL_PROJECTS] : JSON.parse(notice);
    if (process !== this.#process) for (const owner of owners) this.#keep(owner);
  }

  /** Announces all writes of one turn of the event loop in one notification. */
  #announcement() {
    const owners = new Set<string>();
    const send = async () => {
      await new Promise((resolve) => setImmediate(resolve));
      this.#next = undefined;
      const full = JSON.stringify([this.#process, ...owners]);
      const notice = Buffer.byteLength(full) > LONGEST_NOTICE ? JSON.stringify([this.#process, ALL_PROJECTS]) : full;
      try {
        await sql`select pg_notify(${channelOf(WRITES)}, ${notice})`.execute(this.#session.db);
      } catch (error) {
        // The write itself is committed and must not be retried after any error.
        throw error instanceof DatabaseUnavailable ? error : new DatabaseUnavailable('broken', error);
      }
    };
    return { owners, sent: send() };
  }

  #keep(owner: string): void {
    const now = performance.now();
    this.#latest.delete(owner);
    this.#latest.set(owner, now);
    for (const [oldest, at] of this.#latest) {
      if (now - at <= this.#keptMs) break;
      this.#latest.delete(oldest);
    }
  }
}
