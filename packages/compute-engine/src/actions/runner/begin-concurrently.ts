import { randomUUID } from 'node:crypto';
import { CatalogError } from '@apistrata/catalogs';
import type { Tx } from '@apistrata/record-store';
import type { Context } from '../../core/context.js';
import type { Core } from '../../core/core.js';
import { conflict } from '../../errors/rejection.js';
import type { NewJob } from '../../jobs/jobs.js';
import type { ActionEvent, Server } from '../../model/index.js';
import { tables } from '../../schema/tables.js';
import { recordAction } from '../../servers/action-history/actions.js';
import { findServer, lockServer } from '../../servers/find-server.js';
import type { AcceptedAction, Change, ConcurrentAction, StartedConcurrentAction } from './action.js';
import { checkAction, checkSupported } from './check-action.js';
import { notifyCompleted } from './notify-request.js';

/** Runs the transactions that start a concurrent action, after its validation and before its job. */
class ActionStart<Result> {
  readonly #core: Core;
  readonly #record: ConcurrentAction<string, any, any, Result>;
  readonly #context: Context;
  readonly #id: string;
  readonly #started: StartedConcurrentAction<unknown, Result>;

  constructor(
    core: Core,
    record: ConcurrentAction<string, any, any, Result>,
    context: Context,
    id: string,
    started: StartedConcurrentAction<unknown, Result>,
  ) {
    this.#core = core;
    this.#record = record;
    this.#context = context;
    this.#id = id;
    this.#started = started;
  }

  /** Checks the preconditions, records the action, and stores its job. */
  begin(): Promise<Server> {
    return this.#start(async (tx, server) => {
      await this.#recordIn(tx, server);
      await this.#core.worker.add(tx, this.#job(randomUUID()));
    });
  }

  /**
   * Checks the preconditions and stores the action's change, with a guard: the action's job, which is executed only if
   * the request does not complete. Returns the guard's id.
   */
  async guard(): Promise<string> {
    const job = this.#job(this.#started.guardId ?? randomUUID());
    await this.#start((tx) => this.#core.guards.add(tx, job));
    return job.id;
  }

  /**
   * Records a guarded action after its call to another service has succeeded, and stores the action's job. The
   * preconditions are not checked again: they held when the guard was stored, and actions that started later run
   * concurrently. If the guard has already started, it executes the action, and no other job is stored.
   */
  proceed(guardId: string, response: AcceptedAction<Result>): Promise<Server> {
    return this.#write(async (tx, server) => {
      const changedServer = await this.#change(tx, server, (_tx, current) => response.change?.(current));
      await this.#recordIn(tx, changedServer);
      if (await this.#core.guards.release(tx, guardId)) await this.#core.worker.add(tx, this.#job(randomUUID()));
      return changedServer;
    });
  }

  /**
   * Records a guarded action that the request has completed, with its history events. Throws a 409 error if the server
   * is being deleted or the guard has already started. In both cases, the action is undone.
   */
  complete(guardId: string, result: AcceptedAction<Result>): Promise<Server> {
    return this.#write(async (tx, server) => {
      if (server.taskState === 'deleting' || !(await this.#core.guards.release(tx, guardId)))
        throw conflict(`Instance ${this.#id} has changed in the meantime, so the request was undone.`);
      const changedServer = await this.#change(tx, server, (_tx, current) => result.change?.(current));
      await this.#recordIn(tx, changedServer, result.done);
      return changedServer;
    });
  }

  /** Deletes the guard of a failed action, and undoes the action's change to the server record. */
  async abandon(guardId: string): Promise<void> {
    await this.#core.store.transaction(async (tx) => {
      const server = await tables.servers.lock(tx, this.#id);
      await this.#core.guards.release(tx, guardId);
      if (server && !server.deleted) await this.#change(tx, server, (_tx, current) => this.#started.undo?.(current));
    });
  }

  #start(store: (tx: Tx, server: Server) => Promise<void>): Promise<Server> {
    return this.#write(async (tx, server) => {
      checkAction(this.#record, server, this.#context.isAdmin);
      const changedServer = await this.#change(tx, server, this.#started.change);
      await store(tx, changedServer);
      return changedServer;
    });
  }

  #job(id: string): NewJob {
    const payload = { context: this.#context, arguments: this.#started.arguments as Record<string, unknown> };
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
    if (events) await notifyCompleted(this.#core, tx, this.#record, this.#context, server, this.#started.arguments);
    if (history) await recordAction(tx, this.#context, server, history, this.#core.clock.now(), events);
  }
}

/**
 * Starts an action that runs concurrently with others, and therefore changes neither the server's task state nor its
 * `jobId` (see `ConcurrentRun`). If the action must call another service before the action can be recorded, a guard job
 * completes or undoes the action if the process crashes in between.
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
  const started: StartedConcurrentAction<unknown, Result> = (await record.begin?.(
    { core, context, server },
    request,
  )) ?? {
    arguments: {},
  };
  const start = new ActionStart(core, record, context, id, started);
  const { perform: callService } = started;
  if (!callService) {
    const changedServer = await start.begin();
    return started.result?.(changedServer) as Result;
  }
  const guardId = await start.guard();
  return core.guards.renewDuring(guardId, () => callWithGuard(start, guardId, callService, started.release));
}

/**
 * Calls the other service and releases the guard. If the outcome of the call is unknown, the guard remains, unless
 * `release` has released everything that the call may have acquired.
 */
async function callWithGuard<Result>(
  start: ActionStart<Result>,
  guardId: string,
  request: () => Promise<AcceptedAction<Result>>,
  release: (() => Promise<void>) | undefined,
): Promise<Result> {
  let response: AcceptedAction<Result>;
  try {
    response = await request();
    if (response.done) {
      const completed = await start.complete(guardId, response);
      return response.result?.(completed) as Result;
    }
  } catch (error) {
    await release?.();
    const isRejection = error instanceof CatalogError && error.kind !== 'unavailable';
    if (release || isRejection) await start.abandon(guardId);
    throw error;
  }
  const changedServer = await start.proceed(guardId, response);
  return response.result?.(changedServer) as Result;
}
