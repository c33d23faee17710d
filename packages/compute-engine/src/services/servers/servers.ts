import { randomUUID } from 'node:crypto';
import type { Context } from '../../context.js';
import type { Core } from '../../core.js';
import type { DriverVerb } from '../../drivers/driver.js';
import { notFound, notSupported } from '../../errors.js';
import { recordAction } from '../../history/actions.js';
import { type ActionName, checkTransition, transitionOf } from '../../lifecycle/transitions.js';
import type { Server, ServerPatch } from '../../model/index.js';
import type { Tx } from '../../store/database.js';
import { tables } from '../../store/tables.js';
import { type CreatedServers, createServers, type NewServer } from './create.js';
import { listServers, type ServerQuery } from './list.js';

/** How an action changes the server at once, and what its background half needs to know. */
export interface ActOptions {
  readonly arguments?: Readonly<Record<string, unknown>>;
  readonly patch?: ServerPatch;
  /** Checks and writes of the same transaction; may add to the patch. */
  readonly also?: (tx: Tx, server: Server) => Promise<ServerPatch | undefined>;
}

/** Actions that some machines cannot do, and the work that they would take. */
const work: Readonly<Partial<Record<ActionName, DriverVerb>>> = {
  pause: 'pause',
  unpause: 'unpause',
  suspend: 'suspend',
  resume: 'resume',
  rescue: 'rescue',
  unrescue: 'unrescue',
  changePassword: 'set_password',
};

/** What can be done with servers. */
export class Servers {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /** Creates one or several; they are built in the background. */
  create(context: Context, wanted: NewServer): Promise<CreatedServers> {
    return createServers(this.#core, context, wanted);
  }

  list(context: Context, query: ServerQuery): Promise<readonly Server[]> {
    return listServers(this.#core, context, query);
  }

  /**
   * A server of the caller's project, or anybody's for administrators; deleted ones, and other projects', only when
   * asked for. 404 otherwise.
   */
  async get(
    context: Context,
    id: string,
    options: { readonly deleted?: boolean; readonly foreign?: boolean } = {},
  ): Promise<Server> {
    const server = await tables.servers.get(this.#core.store, id);
    const visible = server && (context.isAdmin || options.foreign || server.projectId === context.caller.projectId);
    if (!visible || (server.deleted && !options.deleted)) throw notFound(`Instance ${id} could not be found.`);
    return server;
  }

  /**
   * A server on which an action may begin; the refusals of the lifecycle table otherwise. Whoever has more to check
   * asks here first, so that those come before its own.
   */
  async ready(context: Context, id: string, action: ActionName): Promise<Server> {
    const server = await this.get(context, id);
    this.#check(action, server, context);
    return server;
  }

  /** Changes fields that need nothing done to the machine, after the lifecycle table's checks. */
  async change(
    context: Context,
    id: string,
    action: ActionName,
    make: (server: Server, tx: Tx) => ServerPatch | undefined | Promise<ServerPatch | undefined>,
  ): Promise<Server> {
    return this.#core.store.transaction(async (tx) => {
      const server = await this.#lock(tx, id);
      checkTransition(action, server, context.isAdmin);
      const patch = await make(server, tx);
      if (!patch) return server;
      const { history } = transitionOf(action);
      if (history) await recordAction(tx, context, server, history, this.#core.clock.now());
      return tables.servers.update(tx, { ...server, ...patch, updatedAt: this.#core.clock.now() });
    });
  }

  /**
   * Begins an action: one transaction checks it against the lifecycle table, shows its first task, records it in the
   * history and writes down the job. When this resolves, all of that is durable.
   */
  async act(context: Context, id: string, action: ActionName, options: ActOptions = {}): Promise<Server> {
    const { during, history } = transitionOf(action);
    return this.#core.store.transaction(async (tx) => {
      const server = await this.#lock(tx, id);
      this.#check(action, server, context);
      const more = (await options.also?.(tx, server)) ?? {};
      const jobId = randomUUID();
      const changed = await tables.servers.update(tx, {
        ...server,
        taskState: during[0] ?? server.taskState,
        ...options.patch,
        ...more,
        jobId,
        updatedAt: this.#core.clock.now(),
      });
      if (history) await recordAction(tx, context, changed, history, this.#core.clock.now());
      await this.#core.worker.add(tx, {
        id: jobId,
        kind: action,
        serverId: id,
        payload: { context, arguments: options.arguments ?? {} },
      });
      return changed;
    });
  }

  /** True when the lock is not the caller's to take away without the override. */
  lockedByOther({ caller }: Context, server: Server): boolean {
    return server.lock !== null && server.lock.by !== (server.projectId === caller.projectId ? 'owner' : 'admin');
  }

  /** Locks. An owner who locks once more changes nothing; an administrator's lock replaces what was there. */
  async lock(context: Context, id: string, reason: string | null): Promise<void> {
    await this.change(context, id, 'lock', (server) => {
      const by = server.projectId === context.caller.projectId ? 'owner' : 'admin';
      return by === 'owner' && server.lock ? undefined : { lock: { by, reason } };
    });
  }

  async unlock(context: Context, id: string): Promise<void> {
    await this.change(context, id, 'unlock', () => ({ lock: null }));
  }

  /** Deletes; a second request while that is under way changes nothing. */
  async delete(context: Context, id: string): Promise<void> {
    const server = await this.get(context, id);
    if (server.taskState === 'deleting' || server.taskState === 'soft-deleting') {
      checkTransition('delete', server, context.isAdmin);
      return;
    }
    // Without a host there is nothing that could be kept to be restored.
    const restorable = server.launchedAt !== null && server.host !== null && server.vmState !== 'soft-delete';
    if (this.#core.settings.reclaimSeconds > 0 && restorable && !(await this.#isOnDownHost(server)))
      await this.act(context, id, 'softDelete');
    else await this.#remove(context, server, 'delete');
  }

  /** Deletes for good, whatever is being done to the server. */
  async forceDelete(context: Context, id: string): Promise<void> {
    await this.#remove(context, await this.get(context, id), 'forceDelete');
  }

  /** Nothing can be done on a host that is down: the server is gone at once, and what it had is given back later. */
  async #remove(context: Context, server: Server, action: 'delete' | 'forceDelete'): Promise<void> {
    const gone = (await this.#isOnDownHost(server))
      ? {
          vmState: 'deleted' as const,
          taskState: null,
          powerState: 0 as const,
          deleted: true,
          terminatedAt: this.#core.clock.now(),
        }
      : {};
    await this.act(context, server.id, action, { patch: gone });
  }

  async #isOnDownHost({ host }: Server): Promise<boolean> {
    const { infrastructure } = this.#core;
    const found = host === null ? undefined : (await infrastructure.hosts()).hosts.get(host);
    return found !== undefined && !infrastructure.isUp(found.service);
  }

  #check(action: ActionName, server: Server, { isAdmin }: Context): void {
    checkTransition(action, server, isAdmin);
    const verb = work[action];
    if (verb && this.#core.driver.supports?.(verb) === false)
      throw notSupported(`The driver of this host cannot ${verb} servers.`);
  }

  async #lock(tx: Tx, id: string): Promise<Server> {
    const server = await tables.servers.lock(tx, id);
    if (!server || server.deleted) throw notFound(`Instance ${id} could not be found.`);
    return server;
  }
}
