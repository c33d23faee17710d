import { setTimeout as pause } from 'node:timers/promises';
import { lockName, type Tx } from '@apistrata/record-store';
import type { Core } from '../core/core.js';
import { tables } from '../schema/tables.js';
import { migrationsInProgress } from '../server-migrations/migrations-in-progress.js';
import { usageOf } from './server-usage.js';

/** Until when things are removed. Times in milliseconds since the epoch; left out: nothing of that kind is. */
export interface PurgeLimits {
  /** Servers deleted before, with all that is told of them, and migrations that ended before. */
  readonly deletedBefore?: number;
  /** Actions of servers that still exist. */
  readonly historyBefore?: number;
  /** What is kept of purged servers to tell what projects used. */
  readonly usageBefore?: number;
}

/** How many of each were removed. */
export interface PurgeReport {
  readonly servers: number;
  readonly actions: number;
  readonly migrations: number;
  readonly consoleTokens: number;
  readonly usage: number;
}

/** Rows of one transaction, and the rest between two, in which others get their turn. */
const BATCH = 100;
const REST_MS = 5;

const DAY_MS = 86_400_000;

/** What belongs to a server and goes with it, by the column that names it. */
const ofServers = ['instance_actions', 'migrations', 'console_tokens', 'volume_attachments'] as const;

/** Removes what has been kept for long enough: in batches, while everything else goes on. */
export class Retention {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /** What the settings say of now; undefined when they keep everything for ever. */
  limits(): PurgeLimits {
    const { retentionDays, historyRetentionDays, usageRetentionDays } = this.#core.settings;
    const now = this.#core.clock.now();
    const before = (days: number) => (days > 0 ? now - days * DAY_MS : undefined);
    return {
      deletedBefore: before(retentionDays),
      historyBefore: before(historyRetentionDays),
      usageBefore: before(usageRetentionDays),
    };
  }

  /**
   * Removes what is older, and console tokens that have expired. Several processes may do so at once, and any of them
   * may be ended at any time: what is left is there for the next.
   */
  async purge(limits: PurgeLimits = this.limits(), signal?: AbortSignal): Promise<PurgeReport> {
    const removed = { servers: 0, actions: 0, migrations: 0, consoleTokens: 0, usage: 0 };
    const { deletedBefore, historyBefore, usageBefore } = limits;
    if (deletedBefore !== undefined) {
      removed.servers = await this.#servers(deletedBefore, signal);
      removed.migrations = await this.#rows('migrations', 'updated_at', deletedBefore, signal, (rows) =>
        rows.where('status', 'not in', [...migrationsInProgress]),
      );
    }
    if (historyBefore !== undefined)
      removed.actions = await this.#rows('instance_actions', 'updated_at', historyBefore, signal);
    if (usageBefore !== undefined)
      removed.usage = await this.#rows('server_usage', 'terminated_at', usageBefore, signal);
    removed.consoleTokens = await this.#rows('console_tokens', 'expires_at', this.#core.clock.now(), signal);
    return removed;
  }

  /** Servers one page after the other, oldest deletion first; those that still give back what they had are passed over. */
  async #servers(before: number, signal: AbortSignal | undefined): Promise<number> {
    let count = 0;
    let from = { terminated_at: 0, seq: 0 };
    for (;;) {
      signal?.throwIfAborted();
      const page = await this.#core.store.db
        .selectFrom('servers')
        .select(['seq', 'terminated_at'])
        .where('terminated_at', '>=', from.terminated_at)
        .where('terminated_at', '<', before)
        .where((eb) => eb.or([eb('terminated_at', '>', from.terminated_at), eb('seq', '>', from.seq)]))
        .orderBy('terminated_at')
        .orderBy('seq')
        .limit(BATCH)
        .execute();
      const last = page.at(-1);
      if (!last) return count;
      from = { terminated_at: Number(last.terminated_at), seq: Number(last.seq) };
      count += await this.#core.store.transaction((tx) =>
        this.#removeServers(
          tx,
          page.map(({ seq }) => seq),
        ),
      );
      await pause(REST_MS);
    }
  }

  async #removeServers(tx: Tx, seqs: readonly number[]): Promise<number> {
    await lockName(tx, 'retention');
    const servers = await tables.servers.find(tx, (q) => q.where('seq', 'in', seqs).where('deleted', '=', 1));
    const gone = servers.filter(({ jobId }) => jobId === null);
    if (gone.length === 0) return 0;
    for (const server of gone) {
      const usage = usageOf(server);
      if (usage) await tables.serverUsage.insert(tx, usage);
    }
    const ids = gone.map(({ id }) => id);
    for (const table of ofServers) await tx.db.deleteFrom(table).where('server_id', 'in', ids).execute();
    await tx.db.deleteFrom('servers').where('id', 'in', ids).execute();
    return gone.length;
  }

  /** Rows of a table by their age, an index having them in that order. */
  async #rows(
    table: string,
    column: string,
    before: number,
    signal: AbortSignal | undefined,
    narrow: (rows: any) => any = (rows) => rows,
  ): Promise<number> {
    let count = 0;
    for (;;) {
      signal?.throwIfAborted();
      const removed = await this.#core.store.transaction(async (tx) => {
        await lockName(tx, 'retention');
        const oldest = narrow(tx.db.selectFrom(table).select('seq').where(column, '<', before));
        const { numDeletedRows } = await tx.db
          .deleteFrom(table)
          .where('seq', 'in', oldest.orderBy(column).limit(BATCH))
          .executeTakeFirstOrThrow();
        return Number(numDeletedRows);
      });
      count += removed;
      if (removed < BATCH) return count;
      await pause(REST_MS);
    }
  }
}
