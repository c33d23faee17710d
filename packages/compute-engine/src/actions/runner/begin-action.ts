import { randomUUID } from 'node:crypto';
import type { Tx } from '@apistrata/record-store';
import type { Context } from '../../core/context.js';
import type { Core } from '../../core/core.js';
import type { ActionEvent, Server, ServerPatch } from '../../model/index.js';
import { tables } from '../../schema/tables.js';
import { recordAction } from '../../servers/action-history/actions.js';
import { checkVisible, findServer, lockServer } from '../../servers/find-server.js';
import type { Action, ActionRules, AnyAction, StartedAction } from './action.js';
import { beginConcurrently } from './begin-concurrently.js';
import { checkAction, checkSupported } from './check-action.js';
import { notifyAccepted, notifyCompleted } from './notify-request.js';

/**
 * Returns a server if it satisfies an action's preconditions. Otherwise, throws the error of the first violated
 * precondition.
 */
export async function requireReadyServer(
  core: Core,
  rules: ActionRules,
  context: Context,
  id: string,
): Promise<Server> {
  const server = await findServer(core.store, context, id, { foreign: rules.anyProject });
  checkAction(rules, server, context.isAdmin);
  checkSupported(rules, core.machines, server);
  return server;
}

/**
 * Starts an action. First checks the action's preconditions and validates the request. Then, one transaction checks the
 * preconditions again, and stores the first task state, the history entry and the job. All of these are durable when
 * the promise resolves.
 */
export async function beginAction<Request, Result>(
  core: Core,
  record: AnyAction,
  context: Context,
  id: string,
  request: Request,
): Promise<Result> {
  if (record.concurrent) return beginConcurrently(core, record, context, id, request);
  const server = record.begin && (await requireReadyServer(core, record, context, id));
  const startedAction: StartedAction<unknown, Result> =
    server && record.begin ? await record.begin({ core, context, server }, request) : { arguments: {} };
  const changedServer = await core.store
    .transaction((tx) => writeAction(core, tx, record, context, id, startedAction))
    .catch(async (error) => {
      await startedAction.undoAfterRejection?.();
      throw error;
    });
  return startedAction.result?.(changedServer) as Result;
}

async function writeAction(
  core: Core,
  tx: Tx,
  record: Action<string, any, any, any>,
  context: Context,
  id: string,
  startedAction: StartedAction<unknown, unknown>,
): Promise<Server> {
  const server = await lockServer(tx, id);
  checkVisible(server, context, { foreign: record.anyProject });
  checkAction(record, server, context.isAdmin);
  checkSupported(record, core.machines, server);
  const patch = await startedAction.change?.(tx, server);
  const jobId = randomUUID();
  tx.concerns(context.caller.projectId);
  const firstPatch: ServerPatch = startedAction.done
    ? {}
    : { taskState: record.during[0] ?? server.taskState, jobId, jobAttempt: undefined };
  const now = core.clock.now();
  const changedServer = await tables.servers.update(tx, { ...server, ...firstPatch, ...patch, updatedAt: now });
  await recordStart(core, tx, record, context, changedServer);
  await core.events.emitState(tx, server, changedServer, context);
  await notifyAccepted(core, tx, record, context, changedServer, startedAction.arguments);
  if (startedAction.done) await notifyCompleted(core, tx, record, context, changedServer, startedAction.arguments);
  if (!startedAction.done)
    await addJob(core, tx, record, context, { id: jobId, serverId: id }, startedAction.arguments);
  return changedServer;
}

/** Records the start of an action in its server's action history, with the events that have already occurred. */
export async function recordStart(
  core: Core,
  tx: Tx,
  { history }: ActionRules,
  context: Context,
  server: Pick<Server, 'id'>,
  events?: readonly ActionEvent[],
): Promise<void> {
  if (history) await recordAction(tx, context, server, history, core.clock.now(), events);
}

/** Stores the job of an action. */
export async function addJob<Arguments>(
  core: Core,
  tx: Tx,
  { name }: Pick<Action<string, any, Arguments, any>, 'name' | 'run'>,
  context: Context,
  job: { readonly id: string; readonly serverId: string },
  args: Arguments,
): Promise<void> {
  await core.worker.add(tx, { ...job, kind: name, payload: { context, arguments: args as Record<string, unknown> } });
}

/**
 * Checks an action's preconditions and changes the server record without involving the machine. `change` may return
 * undefined for a no-op.
 */
export async function changeServer(
  core: Core,
  rules: ActionRules,
  context: Context,
  id: string,
  change: (server: Server, tx: Tx) => ServerPatch | undefined | Promise<ServerPatch | undefined>,
): Promise<Server> {
  return core.store.transaction(async (tx) => {
    const server = await lockServer(tx, id);
    checkAction(rules, server, context.isAdmin);
    const patch = await change(server, tx);
    if (!patch) return server;
    const now = core.clock.now();
    tx.concerns(context.caller.projectId);
    await recordStart(core, tx, rules, context, server);
    const changedServer = await tables.servers.update(tx, { ...server, ...patch, updatedAt: now });
    await core.events.emitState(tx, server, changedServer, context);
    await notifyAccepted(core, tx, rules, context, changedServer);
    return changedServer;
  });
}
