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
import { readDiagnostics } from './diagnostics.js';
import { findServer, type ServerVisibility } from './find-server.js';
import { listServers } from './list/list.js';
import type { ServerQuery } from './list/list-plan.js';
import { type ServerChange, updateServer } from './update/update.js';

/** The request parameter of an action, omitted for actions without a request. */
type RequestArguments<Request> = undefined extends Request ? [request?: Request] : [request: Request];

/** Creates, lists and changes servers, and starts actions on servers. */
export class Servers {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /** Creates one or more servers, which are built in the background. */
  create(context: Context, request: NewServer): Promise<CreatedServers> {
    return createServers(this.#core, context, request);
  }

  list(context: Context, query: ServerQuery): Promise<readonly Server[]> {
    return listServers(this.#core, context, query);
  }

  /**
   * Returns a server of the caller's project, or of any project for administrators. `visibility` can add deleted
   * servers and servers of other projects. Throws 404 if the server does not exist or is not visible.
   */
  get(context: Context, id: string, visibility?: ServerVisibility): Promise<Server> {
    return findServer(this.#core.store, context, id, visibility);
  }

  /**
   * Starts an action: checks its preconditions, and stores its first task state, history and job. When the promise
   * resolves, all of these are durable, and the work continues in the background. Throws the errors of the API (400,
   * 403, 404, 409, 501).
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
  /** Starts a custom action that was passed to the engine. */
  act<Request, Result>(
    context: Context,
    id: string,
    record: Action<string, Request, any, Result> | ConcurrentAction<string, Request, any, Result>,
    ...request: RequestArguments<Request>
  ): Promise<Result>;
  act(context: Context, id: string, action: string | Action | ConcurrentAction, request?: unknown): Promise<unknown> {
    const record = typeof action === 'string' ? actionsByName.get(action) : action;
    if (!record) throw new TypeError(`unknown action "${action}" (known: ${[...actionsByName.keys()].join(', ')})`);
    return beginAction(this.#core, record, context, id, request);
  }

  /** Checks an action's preconditions, and changes fields of a server without involving its machine. */
  change(
    context: Context,
    id: string,
    action: ActionName,
    createPatch: (server: Server, tx: Tx) => ServerPatch | undefined | Promise<ServerPatch | undefined>,
  ): Promise<Server> {
    return changeServer(this.#core, rulesOf(action), context, id, createPatch);
  }

  /**
   * Changes fields that the owner may change in any state. Throws 409 if the change would pin the server to a zone
   * other than its current zone, or if the server is already pinned to another zone. A null zone unpins the server.
   */
  update(context: Context, id: string, change: ServerChange): Promise<Server> {
    return updateServer(this.#core, context, id, change);
  }

  /**
   * Returns diagnostics of a server's machine. Throws 409 unless the machine is running or paused, and 501 if the
   * driver does not support diagnostics.
   */
  diagnostics(server: Server): Promise<Diagnostics> {
    return readDiagnostics(this.#core, server);
  }

  /** Returns whether the caller needs the policy `unlock_override` to unlock a server. */
  needsUnlockOverride({ caller }: Context, server: Server): boolean {
    return server.lock !== null && server.lock.by !== (server.projectId === caller.projectId ? 'owner' : 'admin');
  }

  /** Locks a server. A second lock by the owner is a no-op; a lock by an administrator replaces an existing one. */
  async lock(context: Context, id: string, reason: string | null): Promise<void> {
    await this.change(context, id, 'lock', (server) => {
      const by = server.projectId === context.caller.projectId ? 'owner' : 'admin';
      return by === 'owner' && server.lock ? undefined : { lock: { by, reason } };
    });
  }

  async unlock(context: Context, id: string): Promise<void> {
    await this.change(context, id, 'unlock', () => ({ lock: null }));
  }

  /** Deletes a server, or soft-deletes it if so configured; a no-op while a deletion is in progress. */
  async delete(context: Context, id: string): Promise<void> {
    const server = await this.get(context, id);
    if (server.taskState === 'deleting' || server.taskState === 'soft-deleting') {
      checkAction(rulesOf('delete'), server, context.isAdmin);
      return;
    }
    // A server without a host has no machine that could be restored.
    const isRestorable = server.launchedAt !== null && server.host !== null && server.vmState !== 'soft-delete';
    const isSoftDeletion =
      this.#core.settings.reclaimSeconds > 0 && isRestorable && !(await isHostDown(this.#core, server));
    await this.act(context, id, isSoftDeletion ? 'softDelete' : 'delete');
  }
}
