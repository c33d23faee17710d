import { randomUUID } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { DatabaseUnavailable, databaseError } from '../errors/database-unavailable.js';
import { StoreError } from '../errors/store-error.js';
import { openSqlite, type SqliteHandle } from './sqlite-handle.js';

/** Another engine, in another process or in this one, uses the same SQLite file. */
export class DatabaseInUse extends StoreError<'DATABASE_IN_USE'> {
  constructor(file: string, holder: string) {
    super(
      'DATABASE_IN_USE',
      `${file} is in use by ${holder}. A SQLite file serves one process at a time: end that one first, or let them share a PostgreSQL database.`,
    );
  }
}

interface Holder {
  /** Of one engine: processes may have several. */
  readonly mark: string;
  readonly pid: number;
  readonly host: string;
  readonly since: string;
}

/** How often, and at what distance in milliseconds, a lock that is only being written down is tried again. */
const ATTEMPTS = 20;
const PAUSE_MS = 25;

/**
 * The right to use a SQLite file, held in a database of its own beside it (`FILE-owner`). The lock is the operating
 * system's: it ends with the process, however that ends, so there is none to be cleaned up. It keeps nobody from reading:
 * neither those who ask who the holder is, nor backups of the database itself.
 */
export class SqliteOwner {
  readonly #handle: SqliteHandle;

  private constructor(handle: SqliteHandle) {
    this.#handle = handle;
  }

  /** Throws {@link DatabaseInUse}, at once, when somebody else has the file. */
  static async take(file: string): Promise<SqliteOwner> {
    // Two ways to one file are one file.
    const real = existsSync(file) ? realpathSync(file) : join(realpathSync(dirname(file)), basename(file));
    const handle = openSqlite(`${real}-owner`);
    const mine = { mark: randomUUID(), pid: process.pid, host: hostname(), since: new Date().toISOString() };
    try {
      handle.exec('PRAGMA busy_timeout = 0');
      for (let attempt = 1; ; attempt++) {
        if (claim(handle, mine)) return new SqliteOwner(handle);
        const holder = holderOf(handle);
        if (holder && holder.mark !== mine.mark && isAlive(holder)) throw new DatabaseInUse(file, described(holder));
        // Somebody is about to write their name down, or was in the way when ours was just written.
        if (attempt === ATTEMPTS) throw new DatabaseInUse(file, 'another process');
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    } catch (error) {
      handle.close();
      throw error;
    }
  }

  /** Who has a file, in words; undefined when nobody seems to. */
  static holder(file: string): string | undefined {
    const owners = `${realpathSync(file)}-owner`;
    if (!existsSync(owners)) return undefined;
    const handle = openSqlite(owners, { readOnly: true });
    try {
      const holder = holderOf(handle);
      return holder && isAlive(holder) ? described(holder) : undefined;
    } finally {
      handle.close();
    }
  }

  release(): void {
    this.#handle.close();
  }
}

/** Runs statements; false when somebody else holds the lock. */
function unlessLocked(run: () => void): boolean {
  try {
    run();
    return true;
  } catch (error) {
    const told = databaseError(error);
    if (told instanceof DatabaseUnavailable && told.trouble === 'busy') return false;
    throw error;
  }
}

/** Writes our name down, and keeps the lock that lets us. */
function claim(handle: SqliteHandle, { mark, pid, host, since }: Holder): boolean {
  const written = unlessLocked(() => {
    handle.exec('BEGIN IMMEDIATE');
    handle.exec('CREATE TABLE IF NOT EXISTS owner (mark TEXT, pid INTEGER, host TEXT, since TEXT); DELETE FROM owner');
    handle.prepare('INSERT INTO owner VALUES (?, ?, ?, ?)').run(mark, pid, host, since);
    handle.exec('COMMIT');
  });
  // What others can read is committed, so the lock was given up for a moment: it may be somebody else's now.
  const held = written && unlessLocked(() => handle.exec('BEGIN IMMEDIATE'));
  if (held && holderOf(handle)?.mark === mark) return true;
  if (handle.isTransaction) handle.exec('ROLLBACK');
  return false;
}

function holderOf(handle: SqliteHandle): Holder | undefined {
  let holder: Holder | undefined;
  // A lock that keeps us from reading is one that is being taken; without the table nobody was ever here.
  unlessLocked(() => {
    const [table] = handle.prepare(`SELECT name FROM sqlite_schema WHERE name = 'owner'`).all();
    if (table) [holder] = handle.prepare('SELECT mark, pid, host, since FROM owner').all() as Holder[];
  });
  return holder;
}

/** False for the name of a process that is gone: whoever took over has not written theirs yet. */
function isAlive({ pid, host }: Holder): boolean {
  if (host !== hostname()) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as { code?: string }).code === 'EPERM';
  }
}

function described({ pid, host, since }: Holder): string {
  const who = pid === process.pid && host === hostname() ? 'this process already' : `process ${pid} on ${host}`;
  return `${who}, since ${since}`;
}
