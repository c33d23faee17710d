import { randomUUID } from 'node:crypto';
import { CatalogError } from '@apistrata/catalogs';
import type { Tx } from '@apistrata/record-store';
import type { Context } from '../../core/context.js';
import type { Core } from '../../core/core.js';
import { conflict } from '../../errors/refusal.js';
import type { NewJob } from '../../jobs/jobs.js';
import type { ActionEvent, Server } from '../../model/index.js';
import { tables } from '../../schema/tables.js';
import { recordAction } from '../../servers/action-history/actions.js';
import { findServer, lockServer } from '../../servers/find-server.js';
import type { Answered, Change, ConcurrentAction, ConcurrentBegun } from './action.js';
import { checkAction, checkSupported } from './check-action.js';
import { notifyCompleted } from './notify-request.js';

/** One concurrent action on its way from the request to the background. */
class Beginning<Result> {
  readonly #core: Core;
  readonly #record: ConcurrentAction<string, any, any, Result>;
  readonly #context: Context;
  readonly #id: string;
  readonly #begun: ConcurrentBegun<unknown, Result>;

  constructor(
    core: Core,
    record: ConcurrentAction<string, any, any, Result>,
    context: Context,
    id: string,
    begun: ConcurrentBegun<unknown, Result>,
  ) {
    this.#core = core;
    this.#record = record;
    this.#context = context;
    this.#id = id;
    this.#begun = begun;
  }

  /** Checks the action, records it, and leaves the work to the background. */
  begin(): Promise<Server> {
    return this.#write(async (tx, server) => {
      checkAction(this.#record, server, this.#context.isAdmin);
      const changed = await this.#change(tx, server, this.#begun.change);
      await this.#recordIn(tx, changed);
      await this.#core.worker.add(tx, this.#job(randomUUID()));
      return changed;
    });
  }

  /** Checks the action and writes down what shall happen if nothing more is heard of it. Resolves to the guard's id. */
  async guard(): Promise<string> {
    const job = this.#job(randomUUID());
    await this.#write(async (tx, server) => {
      checkAction(this.#record, server, this.#context.isAdmin);
      const changed = await this.#change(tx, server, this.#begun.change);
      await this.#core.guards.add(tx, job);
      return changed;
    });
    return job.id;
  }

  /**
   * What was guarded is prepared: it is recorded, and the background goes on with it. It was allowed when the guard was
   * written; whatever has begun since then has begun beside it. A guard that was quicker has the work in hand already.
   */
  proceed(guardId: string, answer: Answered<Result>): Promise<Server> {
    return this.#write(async (tx, server) => {
      const changed = await this.#change(tx, server, (_tx, current) => answer.change?.(current));
      await this.#recordIn(tx, changed);
      if (await this.#core.guards.release(tx, guardId)) await this.#core.worker.add(tx, this.#job(randomUUID()));
      return changed;
    });
  }

  /** What was guarded is done, and is recorded with its steps. A guard that was quicker has undone it: 409. */
  complete(guardId: string, answer: Answered<Result>): Promise<Server> {
    return this.#write(async (tx, server) => {
      if (server.taskState === 'deleting' || !(await this.#core.guards.release(tx, guardId)))
        throw conflict(`Instance ${this.#id} has changed meanwhile, and is as it was before.`);
      const changed = await this.#change(tx, server, (_tx, current) => answer.change?.(current));
      await this.#recordIn(tx, changed, answer.done);
      return changed;
    });
  }

  /** What was guarded was refused, or has been undone. */
  async abandon(guardId: string): Promise<void> {
    await this.#core.store.transaction(async (tx) => {
      const server = await tables.servers.lock(tx, this.#id);
      await this.#core.guards.release(tx, guardId);
      if (server && !server.deleted) await this.#change(tx, server, (_tx, current) => this.#begun.undo?.(current));
    });
  }

  #job(id: string): NewJob {
    const payload = { context: this.#context, arguments: this.#begun.arguments as Record<string, unknown> };
    return { id, kind: this.#record.name, serverId: this.#id, payload };
  }

  #write(work: (tx: Tx, server: Server) => Promise<Server>): Promise<Server> {
    return this.#core.store.transaction(async (tx) => work(tx, await lockServer(tx, this.#id)));
  }

  async #change(tx: Tx, server: Server, change: Change | undefined): Promise<Server> {
    tx.concerns(this.#context.caller.projectId);
    const patch = await change?.(tx, server);
    return patch ? tables.servers.update(tx, { ...server, ...patch, updatedAt: this.#core.clock.now() }) : server;
  }

  async #recordIn(tx: Tx, server: Server, events?: readonly ActionEvent[]): Promise<void> {
    const { history } = this.#record;
    if (events) await notifyCompleted(this.#core, tx, this.#record, this.#context, server, this.#begun.arguments);
    if (history) await recordAction(tx, this.#context, server, history, this.#core.clock.now(), events);
  }
}

/**
 * Begins an action that goes on beside others: it leaves the server's task and its `jobId` alone (see `ConcurrentRun`).
 * Some do something to another service before they can be written down; those are guarded by a job that is there in
 * case the process dies in between.
 */
export async function beginConcurrently<Request, Result>(
  core: Core,
  record: ConcurrentAction<string, Request, any, Result>,
  context: Context,
  id: string,
  request: Request,
): Promise<Result> {
  const server = await findServer(core.store, context, id, { foreign: record.anyProject });
  checkAction(record, server, context.isAdmin);
  checkSupported(record, core.machines, server);
  const begun: ConcurrentBegun<unknown, Result> = (await record.begin?.({ core, context, server }, request)) ?? {
    arguments: {},
  };
  const beginning = new Beginning(core, record, context, id, begun);
  const { ask } = begun;
  if (!ask) {
    const changed = await beginning.begin();
    return begun.result?.(changed) as Result;
  }
  const guardId = await beginning.guard();
  return core.guards.hold(guardId, () => askUnderGuard(beginning, guardId, ask, begun.giveBack));
}

/** Asks the other service and ends the guard; where that fails without, the guard is left to do its work. */
async function askUnderGuard<Result>(
  beginning: Beginning<Result>,
  guardId: string,
  ask: () => Promise<Answered<Result>>,
  giveBack: (() => Promise<void>) | undefined,
): Promise<Result> {
  let answer: Answered<Result>;
  try {
    answer = await ask();
    if (answer.done) {
      const completed = await beginning.complete(guardId, answer);
      return answer.result?.(completed) as Result;
    }
  } catch (error) {
    await giveBack?.();
    const refused = error instanceof CatalogError && error.kind !== 'unavailable';
    if (giveBack || refused) await beginning.abandon(guardId);
    throw error;
  }
  const changed = await beginning.proceed(guardId, answer);
  return answer.result?.(changed) as Result;
}
