import { CompiledQuery, type Kysely } from 'kysely';
import type { EngineObserver } from '../observation/observer.js';
import type { Rows } from './database.js';
import { DatabaseUnavailable } from './database-unavailable.js';
import { type Waiting, type Work, WorkGroups } from './work-groups.js';

/**
 * Runs transactions one after the other and commits those that wait together at once. Each has a savepoint of its own,
 * so one that fails undoes only itself; nobody hears of success before the shared commit. A commit writes whole pages:
 * sharing it is what makes many small transactions cheap.
 */
export class GroupCommit {
  readonly #db: Kysely<Rows>;
  readonly #groups: WorkGroups;

  constructor(db: Kysely<Rows>, onCommit?: EngineObserver['commit']) {
    this.#db = db;
    this.#groups = new WorkGroups((group) => this.#commit(group), onCommit);
  }

  run<T>(work: Work<T>): Promise<T> {
    return this.#groups.add(work);
  }

  async #commit(group: readonly Waiting[]): Promise<void> {
    if (group.length === 1) {
      const { work, resolve, reject } = group[0]!;
      await this.#db.transaction().execute(work).then(resolve, reject);
      return;
    }
    const outcomes: (() => void)[] = [];
    try {
      await this.#db.transaction().execute(async (db) => {
        for (const { work, resolve, reject } of group) {
          await db.executeQuery(SAVEPOINT);
          try {
            const value = await work(db);
            await db.executeQuery(RELEASE);
            outcomes.push(() => resolve(value));
          } catch (error) {
            // Trouble of the database is everybody's, and the savepoint may be gone already.
            if (error instanceof DatabaseUnavailable) throw error;
            await db.executeQuery(UNDO);
            await db.executeQuery(RELEASE);
            outcomes.push(() => reject(error));
          }
        }
      });
    } catch (error) {
      for (const { reject } of group) reject(error);
      return;
    }
    for (const done of outcomes) done();
  }
}

const SAVEPOINT = CompiledQuery.raw('savepoint work');
const UNDO = CompiledQuery.raw('rollback to work');
const RELEASE = CompiledQuery.raw('release work');
