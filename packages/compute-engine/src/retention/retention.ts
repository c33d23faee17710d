import { setTimeout as pause } from 'node:timers/promises';
import { lockName, type Tx } from '@apistrata/record-store';
import type { Core } from '../core/core.js';
import { tables } from '../schema/tables.js';
import { migrationsInProgress } from '../server-migrations/migrations-in-progress.js';
import { createUsageRecord } from './server-usage.js';

/** The times, in milliseconds since the epoch, before which records are purged. Undefined keeps the records. */
export interface PurgeLimits {
  /**
   * Purges servers that were deleted before this time, with their history, and migrations that were completed before
   * it.
   */
  readonly deletedBefore?: number;
  /** Purges actions of existing servers that were last changed before this time. */
  readonly historyBefore?: number;
  /** Purges the usage of servers that were deleted before this time. */
  readonly usageBefore?: number;
}

/** The number of removed records of each kind. */
export interface PurgeReport {
  readonly servers: number;
  readonly actions: number;
  readonly migrations: number;
  readonly consoleTokens: number;
  readonly usage: number;
}

/** Maximum number of rows per transaction. */
const BATCH_SIZE = 100;

/** Pause between transactions, so that other work can continue. */
const PAUSE_MS = 5;

const DAY_MS = 86_400_000;

/** Tables whose rows belong to a server and are removed with it. */
const serverTables = ['instance_actions', 'migrations', 'console_tokens', 'volume_attachments'] as const;

/** Removes records whose retention period has ended, in batches that do not block other work. */
export class Retention {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /** Returns the current limits according to the settings. A limit is undefined if its records are kept forever. */
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
   * Removes expired records and console tokens. Several processes may do so concurrently. If a purge is interrupted,
   * the next one removes the remaining records.
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

  /**
   * Purges servers page by page, in the order of their deletion. Servers whose resources are still being released are
   * skipped.
   */
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
        .limit(BATCH_SIZE)
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
      await pause(PAUSE_MS);
    }
  }

  async #removeServers(tx: Tx, seqs: readonly number[]): Promise<number> {
    await lockName(tx, 'retention');
    const servers = await tables.servers.find(tx, (q) => q.where('seq', 'in', seqs).where('deleted', '=', 1));
    const expiredServers = servers.filter(({ jobId }) => jobId === null);
    if (expiredServers.length === 0) return 0;
    for (const server of expiredServers) {
      const usage = createUsageRecord(server);
      if (usage) await tables.serverUsage.insert(tx, usage);
    }
    const ids = expiredServers.map(({ id }) => id);
    for (const table of serverTables) await tx.db.deleteFrom(table).where('server_id', 'in', ids).execute();
    await tx.db.deleteFrom('servers').where('id', 'in', ids).execute();
    return expiredServers.length;
  }

  /** Purges rows of a table by age, in the order of an index. */
  async #rows(
    table: string,
    column: string,
    before: number,
    signal: AbortSignal | undefined,
    addCondition: (rows: any) => any = (rows) => rows,
  ): Promise<number> {
    let count = 0;
    for (;;) {
      signal?.throwIfAborted();
      const removed = await this.#core.store.transaction(async (tx) => {
        await lockName(tx, 'retention');
        const oldest = addCondition(tx.db.selectFrom(table).select('seq').where(column, '<', before));
        const { numDeletedRows } = await tx.db
          .deleteFrom(table)
          .where('seq', 'in', oldest.orderBy(column).limit(BATCH_SIZE))
          .executeTakeFirstOrThrow();
        return Number(numDeletedRows);
      });
      count += removed;
      if (removed < BATCH_SIZE) return count;
      await pause(PAUSE_MS);
    }
  }
}
