import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { DatabaseUnavailable } from '../errors/database-unavailable.js';
import { channelOf } from '../postgres/notification-listener.js';
import type { Session } from '../store/database.js';

/** The owner that stands for all projects: callers of any project must see the write. */
export const ALL_PROJECTS = '*';

/** The receiver name for notifications about writes. All processes that use a database share this name. */
export const WRITES_RECEIVER = 'writes';

/** The maximum payload of a PostgreSQL notification, in bytes. */
const MAX_PAYLOAD_BYTES = 7999;

/**
 * The time of the last write for each project or user, by any process that shares the database. It is the value of
 * `performance.now()` when this process learned of the write, which is never before the commit.
 */
export class LatestWrites {
  readonly #session: Session;
  readonly #retentionMs: number;
  readonly #process = randomUUID();
  /** Write times by owner, in the order of the writes, oldest first. */
  readonly #lastWriteTimes = new Map<string, number>();
  #next: { readonly owners: Set<string>; readonly sent: Promise<void> } | undefined;

  /** @param retentionMs how long write times are stored, in milliseconds */
  constructor(session: Session, retentionMs: number) {
    this.#session = session;
    this.#retentionMs = retentionMs;
  }

  /**
   * Returns the time of the last write for any of these owners or for all projects; -Infinity if it was before the
   * retention period.
   */
  latestWriteTime(owners: readonly string[]): number {
    return Math.max(
      ...[...owners, ALL_PROJECTS].map((owner) => this.#lastWriteTimes.get(owner) ?? Number.NEGATIVE_INFINITY),
    );
  }

  /**
   * Records a write by this process. Resolves when the write has been announced to the other processes.
   *
   * @throws {@link DatabaseUnavailable} if the write cannot be announced; the caller must then not report success
   */
  record(owners: Iterable<string>): Promise<void> {
    this.#next ??= this.#startAnnouncement();
    for (const owner of owners) {
      this.#recordTime(owner);
      this.#next.owners.add(owner);
    }
    return this.#next.sent;
  }

  /** Handles a notification from another process. The payload is '' if notifications may have been missed. */
  receive(payload: string): void {
    const [process, ...owners]: readonly string[] = payload === '' ? ['', ALL_PROJECTS] : JSON.parse(payload);
    if (process !== this.#process) for (const owner of owners) this.#recordTime(owner);
  }

  /** Announces all writes from one turn of the event loop in one notification. */
  #startAnnouncement() {
    const owners = new Set<string>();
    const sendNotification = async () => {
      await new Promise((resolve) => setImmediate(resolve));
      this.#next = undefined;
      const fullPayload = JSON.stringify([this.#process, ...owners]);
      const payload =
        Buffer.byteLength(fullPayload) > MAX_PAYLOAD_BYTES
          ? JSON.stringify([this.#process, ALL_PROJECTS])
          : fullPayload;
      try {
        await sql`select pg_notify(${channelOf(WRITES_RECEIVER)}, ${payload})`.execute(this.#session.db);
      } catch (error) {
        // Converted to an error that is not retried, because the write itself is committed.
        throw error instanceof DatabaseUnavailable ? error : new DatabaseUnavailable('failed', error);
      }
    };
    return { owners, sent: sendNotification() };
  }

  #recordTime(owner: string): void {
    const now = performance.now();
    this.#lastWriteTimes.delete(owner);
    this.#lastWriteTimes.set(owner, now);
    for (const [oldest, at] of this.#lastWriteTimes) {
      if (now - at <= this.#retentionMs) break;
      this.#lastWriteTimes.delete(oldest);
    }
  }
}
