import { randomUUID } from 'node:crypto';
import type { Context } from '../../context.js';
import type { Core } from '../../core.js';
import { conflict, notFound } from '../../errors.js';
import { recordAction } from '../../history/actions.js';
import { type ActionName, checkTransition, transitionOf } from '../../lifecycle/transitions.js';
import type { ActionEvent, Server, ServerPatch } from '../../model/index.js';
import type { Tx } from '../../store/database.js';
import { tables } from '../../store/tables.js';

type MakePatch = (tx: Tx, server: Server) => Promise<ServerPatch | undefined>;

interface SideActionOptions {
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Checks and writes of the same transaction. */
  readonly also?: MakePatch;
}

/**
 * Actions that take place beside others: they leave the server's task and its `jobId` alone (see `SideRun`). Some do
 * something to another service before they can be written down; those are guarded by a job that is there in case the
 * process dies in between.
 */
export class SideActions {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /** Checks the action, records it, and leaves the work to the background. */
  begin(context: Context, id: string, action: ActionName, options: SideActionOptions): Promise<Server> {
    return this.#write(id, async (tx, server) => {
      checkTransition(action, server, context.isAdmin);
      const changed = await this.#patch(tx, server, options.also);
      await this.#record(tx, context, changed, action);
      await this.#hand(tx, context, id, action, options.arguments);
      return changed;
    });
  }

  /**
   * Checks the action, writes down what shall happen if nothing more is heard of it, and does the work under that guard.
   * The work ends the guard by `proceed`, `complete` or `abandon`; where it fails without, the guard is left to do its.
   */
  async guarded<T>(
    context: Context,
    id: string,
    action: ActionName,
    options: SideActionOptions,
    work: (guardId: string) => Promise<T>,
  ): Promise<T> {
    const guardId = randomUUID();
    await this.#write(id, async (tx, server) => {
      checkTransition(action, server, context.isAdmin);
      const changed = await this.#patch(tx, server, options.also);
      const payload = { context, arguments: options.arguments };
      await this.#core.guards.add(tx, { id: guardId, kind: action, serverId: id, payload });
      return changed;
    });
    return this.#core.guards.hold(guardId, () => work(guardId));
  }

  /**
   * What was guarded is prepared: it is recorded, and the background goes on with it. It was allowed when the guard was
   * written; whatever has begun since then has begun beside it. A guard that was quicker has the work in hand already.
   */
  proceed(
    context: Context,
    id: string,
    action: ActionName,
    guardId: string,
    options: SideActionOptions,
  ): Promise<Server> {
    return this.#write(id, async (tx, server) => {
      const changed = await this.#patch(tx, server, options.also);
      await this.#record(tx, context, changed, action);
      if (await this.#core.guards.release(tx, guardId)) await this.#hand(tx, context, id, action, options.arguments);
      return changed;
    });
  }

  /** What was guarded is done, and is recorded with its steps. A guard that was quicker has undone it: 409. */
  complete(
    context: Context,
    id: string,
    action: ActionName,
    guardId: string,
    events: readonly ActionEvent[],
    also: MakePatch,
  ): Promise<Server> {
    return this.#write(id, async (tx, server) => {
      if (server.taskState === 'deleting' || !(await this.#core.guards.release(tx, guardId)))
        throw conflict(`Instance ${id} has changed meanwhile, and is as it was before.`);
      const changed = await this.#patch(tx, server, also);
      await this.#record(tx, context, changed, action, events);
      return changed;
    });
  }

  /** What was guarded was refused, or has been undone. */
  async abandon(id: string, guardId: string, also?: MakePatch): Promise<void> {
    await this.#core.store.transaction(async (tx) => {
      const server = await tables.servers.lock(tx, id);
      await this.#core.guards.release(tx, guardId);
      if (server && !server.deleted) await this.#patch(tx, server, also);
    });
  }

  #write(id: string, work: (tx: Tx, server: Server) => Promise<Server>): Promise<Server> {
    return this.#core.store.transaction(async (tx) => {
      const server = await tables.servers.lock(tx, id);
      if (!server || server.deleted) throw notFound(`Instance ${id} could not be found.`);
      return work(tx, server);
    });
  }

  async #patch(tx: Tx, server: Server, also: MakePatch | undefined): Promise<Server> {
    const patch = await also?.(tx, server);
    return patch ? tables.servers.update(tx, { ...server, ...patch, updatedAt: this.#core.clock.now() }) : server;
  }

  async #record(
    tx: Tx,
    context: Context,
    server: Server,
    action: ActionName,
    events?: readonly ActionEvent[],
  ): Promise<void> {
    const { history } = transitionOf(action);
    if (history) await recordAction(tx, context, server, history, this.#core.clock.now(), events);
  }

  async #hand(
    tx: Tx,
    context: Context,
    serverId: string,
    kind: ActionName,
    args: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    await this.#core.worker.add(tx, { id: randomUUID(), kind, serverId, payload: { context, arguments: args } });
  }
}
