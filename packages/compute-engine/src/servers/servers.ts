import type { Tx } from '@apistrata/record-store';
import {
  type ActionName,
  actionsByName,
  type RequestOf,
  type ResultOf,
  rulesOf,
  type ServerActionName,
} from '../actions/action-table.js';
import { isHostDown } from '../actions/hosts.js';
import type { Action, ConcurrentAction } from '../actions/runner/action.js';
import { beginAction, changeServer } from '../actions/runner/begin-action.js';
import { checkAction } from '../actions/runner/check-action.js';
import type { Context } from '../core/context.js';
import type { Core } from '../core/core.js';
import type { Diagnostics } from '../drivers/driver.js';
import type { Server, ServerPatch } from '../model/index.js';
import { type CreatedServers, createServers, type NewServer } from './create/create.js';
import { serverDiagnostics } from './diagnostics.js';
import { findServer, type ServerVisibility } from './find-server.js';
import { listServers, type ServerQuery } from './list/list.js';
import { type ServerChange, updateServer } from './update/update.js';

/** The request of an action: left out where there is nothing to be told. */
type RequestArguments<Request> = undefined extends Request ? [request?: Request] : [request: Request];

/** What can be done with servers. */
export class Servers {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /** Creates one or several; they are built in the background. */
  create(context: Context, request: NewServer): Promise<CreatedServers> {
    return createServers(this.#core, context, request);
  }

  list(context: Context, query: ServerQuery): Promise<readonly Server[]> {
    return listServers(this.#core, context, query);
  }

  /**
   * A server of the caller's project, or anybody's for administrators; deleted ones, and other projects', only when
   * asked for. 404 otherwise.
   */
  get(context: Context, id: string, visibility?: ServerVisibility): Promise<Server> {
    return findServer(this.#core.store, context, id, visibility);
  }

  /**
   * Begins an action: checks it, shows its first task, records it in the history and writes down the job. When this
   * resolves, all of that is durable; the work goes on in the background. Refusals are those of the API (400, 403, 404,
   * 409, 501).
   *
   * @example
   * await engine.servers.act(context, id, 'os-stop');
   * const { adminPassword } = await engine.servers.act(context, id, 'rebuild', { imageId, mayReimage: false });
   */
  act<Name extends ServerActionName>(
    context: Context,
    id: string,
    name: Name,
    ...request: RequestArguments<RequestOf<Name>>
  ): Promise<ResultOf<Name>>;
  /** The same for an action of one's own, that the engine was made with. */
  act<Request, Result>(
    context: Context,
    id: string,
    record: Action<string, Request, any, Result> | ConcurrentAction<string, Request, any, Result>,
    ...request: RequestArguments<Request>
  ): Promise<Result>;
  act(context: Context, id: string, which: string | Action | ConcurrentAction, request?: unknown): Promise<unknown> {
    const record = typeof which === 'string' ? actionsByName.get(which) : which;
    if (!record)
      throw new TypeError(`there is no action "${which}" (there are ${[...actionsByName.keys()].join(', ')})`);
    return beginAction(this.#core, record, context, id, request);
  }

  /** Changes fields that need nothing done to the machine, after the checks of the action's rules. */
  change(
    context: Context,
    id: string,
    action: ActionName,
    make: (server: Server, tx: Tx) => ServerPatch | undefined | Promise<ServerPatch | undefined>,
  ): Promise<Server> {
    return changeServer(this.#core, rulesOf(action), context, id, make);
  }

  /**
   * Changes what its owner may change at any time. 409 for a zone to be pinned to that the server is not in, or when it is
   * pinned already; null unpins.
   */
  update(context: Context, id: string, change: ServerChange): Promise<Server> {
    return updateServer(this.#core, context, id, change);
  }

  /** What the machine tells of itself; 409 unless it runs or is paused, 501 for drivers that know nothing of machines. */
  diagnostics(server: Server): Promise<Diagnostics> {
    return serverDiagnostics(this.#core, server);
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

  /** Deletes, or puts aside where the settings say so; a second request while that is under way changes nothing. */
  async delete(context: Context, id: string): Promise<void> {
    const server = await this.get(context, id);
    if (server.taskState === 'deleting' || server.taskState === 'soft-deleting') {
      checkAction(rulesOf('delete'), server, context.isAdmin);
      return;
    }
    // Without a host there is nothing that could be kept to be restored.
    const restorable = server.launchedAt !== null && server.host !== null && server.vmState !== 'soft-delete';
    const aside = this.#core.settings.reclaimSeconds > 0 && restorable && !(await isHostDown(this.#core, server));
    await this.act(context, id, aside ? 'softDelete' : 'delete');
  }
}
