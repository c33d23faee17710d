import { randomUUID } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { DatabaseUnavailable, databaseError } from '../errors/database-unavailable.js';
import { StoreError } from '../errors/store-error.js';
import { openSqlite, type SqliteHandle } from './sqlite-handle.js';

/** Thrown if another engine, in another process or in this one, uses the same SQLite file. */
export class DatabaseInUse extends StoreError<'DATABASE_IN_USE'> {
  constructor(file: string, holder: string) {
    super(
      'DATABASE_IN_USE',
      `${file} is in use by ${holder}. A SQLite file serves one process at a time: stop that process first, or use a PostgreSQL database, which several processes can share.`,
    );
  }
}

interface Holder {
  /** Identifies an engine, because a process may have several engines. */
  readonly mark: string;
  readonly pid: number;
  readonly host: string;
  readonly since: string;
}

/** The maximum number of attempts to acquire a lock that another process has just acquired. */
const MAX_ATTEMPTS = 20;

/** The interval between two attempts to acquire the lock, in milliseconds. */
const RETRY_INTERVAL_MS = 25;

/**
 * The exclusive right to use a SQLite file, which is a lock on a separate database next to the file (`FILE-owner`). The
 * lock needs no clean-up, because the operating system releases it when the process ends, even after a crash. The lock
 * blocks neither its holder's queries nor backups of the database itself.
 */
export class SqliteOwner {
  readonly #handle: SqliteHandle;

  private constructor(handle: SqliteHandle) {
    this.#handle = handle;
  }

  /**
   * Acquires the exclusive right to use a SQLite file.
   *
   * @throws {@link DatabaseInUse} immediately, if another engine uses the file
   */
  static async acquire(file: string): Promise<SqliteOwner> {
    // Links are resolved, because different paths may lead to the same file.
    const realPath = existsSync(file) ? realpathSync(file) : join(realpathSync(dirname(file)), basename(file));
    const handle = openSqlite(`${realPath}-owner`);
    const ownHolder = { mark: randomUUID(), pid: process.pid, host: hostname(), since: new Date().toISOString() };
    try {
      handle.exec('PRAGMA busy_timeout = 0');
      for (let attempt = 1; ; attempt++) {
        if (claimOwnership(handle, ownHolder)) return new SqliteOwner(handle);
        const holder = holderOf(handle);
        if (holder && holder.mark !== ownHolder.mark && isAlive(holder))
          throw new DatabaseInUse(file, describeHolder(holder));
        // Another process is recording itself as the holder, or tried to acquire the lock at the same time.
        if (attempt === MAX_ATTEMPTS) throw new DatabaseInUse(file, 'another process');
        await new Promise((resolve) => setTimeout(resolve, RETRY_INTERVAL_MS));
      }
    } catch (error) {
      handle.close();
      throw error;
    }
  }

  /** Returns a description of the process that uses a SQLite file; undefined if none is found. */
  static holder(file: string): string | undefined {
    const ownerFile = `${realpathSync(file)}-owner`;
    if (!existsSync(ownerFile)) return undefined;
    const handle = openSqlite(ownerFile, { readOnly: true });
    try {
      const holder = holderOf(handle);
      return holder && isAlive(holder) ? describeHolder(holder) : undefined;
    } finally {
      handle.close();
    }
  }

  release(): void {
    this.#handle.close();
  }
}

/** Runs statements. Returns false if another process holds the lock. */
function runUnlessLocked(run: () => void): boolean {
  try {
    run();
    return true;
  } catch (error) {
    const convertedError = databaseError(error);
    if (convertedError instanceof DatabaseUnavailable && convertedError.failure === 'busy') return false;
    throw error;
  }
}

/** Records this engine as the holder and keeps the lock. Returns false if another process acquired the lock. */
function claimOwnership(handle: SqliteHandle, { mark, pid, host, since }: Holder): boolean {
  const isRecorded = runUnlessLocked(() => {
    handle.exec('BEGIN IMMEDIATE');
    handle.exec('CREATE TABLE IF NOT EXISTS owner (mark TEXT, pid INTEGER, host TEXT, since TEXT); DELETE FROM owner');
    handle.prepare('INSERT INTO owner VALUES (?, ?, ?, ?)').run(mark, pid, host, since);
    handle.exec('COMMIT');
  });
  // Other processes can read the holder only after a commit, which releases the lock for a moment. Another process may
  // have acquired the lock in that moment.
  const isLocked = isRecorded && runUnlessLocked(() => handle.exec('BEGIN IMMEDIATE'));
  if (isLocked && holderOf(handle)?.mark === mark) return true;
  if (handle.isTransaction) handle.exec('ROLLBACK');
  return false;
}

function holderOf(handle: SqliteHandle): Holder | undefined {
  let holder: Holder | undefined;
  // If the table cannot be read, another process is acquiring the lock. If the table does not exist, no process has
  // acquired the lock before.
  runUnlessLocked(() => {
    const [table] = handle.prepare(`SELECT name FROM sqlite_schema WHERE name = 'owner'`).all();
    if (table) [holder] = handle.prepare('SELECT mark, pid, host, since FROM owner').all() as Holder[];
  });
  return holder;
}

/** Returns whether the recorded process exists. If not, its successor has not recorded itself yet. */
function isAlive({ pid, host }: Holder): boolean {
  if (host !== hostname()) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as { code?: string }).code === 'EPERM';
  }
}

function describeHolder({ pid, host, since }: Holder): string {
  const description = pid === process.pid && host === hostname() ? 'this process' : `process ${pid} on ${host}`;
  return `${description}, since ${since}`;
}
