import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { DatabaseUnavailable } from '../errors/database-unavailable.js';
import { channelOf } from '../postgres/postgres-notices.js';
import type { Session } from '../store/database.js';

/** Stands for all readers: what was written is shown to callers of any project. */
export const EVERYBODY = '*';

/** Who is told what is written: all processes of a database hear the same. */
export const WRITES = 'writes';

/** What a notice of PostgreSQL carries at the most, in bytes. */
const LONGEST_NOTICE = 7999;

/**
 * When something was last written that concerns a project or a user, by any process that shares the database. Times are
 * this process's own (`performance.now()`), of the moment when it learned of the write: never before its commit.
 */
export class LatestWrites {
  readonly #session: Session;
  readonly #keptMs: number;
  readonly #process = randomUUID();
  /** The one that was written for last comes last. */
  readonly #latest = new Map<string, number>();
  #next: { readonly owners: Set<string>; readonly sent: Promise<void> } | undefined;

  /** @param keptMs for how long anybody asks what was written */
  constructor(session: Session, keptMs: number) {
    this.#session = session;
    this.#keptMs = keptMs;
  }

  /** When something was written for one of these or for everybody; -Infinity where that is longer ago than is kept. */
  of(owners: readonly string[]): number {
    return Math.max(...[...owners, EVERYBODY].map((owner) => this.#latest.get(owner) ?? Number.NEGATIVE_INFINITY));
  }

  /**
   * Something was written here; resolves when the other processes can know. Throws {@link DatabaseUnavailable} where they cannot:
   * then nobody may hear of success.
   */
  made(owners: Iterable<string>): Promise<void> {
    this.#next ??= this.#announcement();
    for (const owner of owners) {
      this.#keep(owner);
      this.#next.owners.add(owner);
    }
    return this.#next.sent;
  }

  /** Takes a notice of a process; '' when some may have been missed. */
  hear(notice: string): void {
    const [process, ...owners]: readonly string[] = notice === '' ? ['', EVERYBODY] : JSON.parse(notice);
    if (process !== this.#process) for (const owner of owners) this.#keep(owner);
  }

  /** One notice for all that is written in one turn of the event loop. */
  #announcement() {
    const owners = new Set<string>();
    const send = async () => {
      await new Promise((resolve) => setImmediate(resolve));
      this.#next = undefined;
      const whole = JSON.stringify([this.#process, ...owners]);
      const notice = Buffer.byteLength(whole) > LONGEST_NOTICE ? JSON.stringify([this.#process, EVERYBODY]) : whole;
      try {
        await sql`select pg_notify(${channelOf(WRITES)}, ${notice})`.execute(this.#session.db);
      } catch (error) {
        // Whatever it was: the write itself is done, and must not be tried again.
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
