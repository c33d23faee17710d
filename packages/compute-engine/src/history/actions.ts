import type { Context } from '../context.js';
import type { ActionEvent, InstanceAction, Server } from '../model/index.js';
import type { Tx } from '../store/database.js';
import { compoundKey, tables } from '../store/tables.js';

/** Writes down that a request did something to a server. A second action of the same request adds nothing. */
export async function recordAction(
  tx: Tx,
  context: Context,
  server: Server,
  action: string,
  now: number,
  events: readonly ActionEvent[] = [],
): Promise<void> {
  if (await tables.actions.get(tx, compoundKey(server.id, context.requestId))) return;
  await tables.actions.insert(tx, {
    serverId: server.id,
    requestId: context.requestId,
    action,
    projectId: context.caller.projectId,
    userId: context.caller.userId,
    startTime: now,
    updatedAt: events.length > 0 ? now : null,
    message: events.some(({ result }) => result === 'Error') ? 'Error' : null,
    events,
  });
}

/** Adds finished steps to the action of a request, oldest first; a step with the same name and start replaces itself. */
export async function recordEvents(
  tx: Tx,
  serverId: string,
  requestId: string,
  events: readonly ActionEvent[],
): Promise<void> {
  if (events.length === 0) return;
  const action = await tables.actions.lock(tx, compoundKey(serverId, requestId));
  if (!action) return;
  const kept = action.events.filter((old) => !events.some((e) => e.name === old.name && e.startTime === old.startTime));
  const all = [...kept, ...events];
  const finished = all.flatMap(({ finishTime }) => finishTime ?? []);
  const changed: InstanceAction = {
    ...action,
    events: all,
    updatedAt: finished.length > 0 ? Math.max(...finished) : action.updatedAt,
    message: all.some(({ result }) => result === 'Error') ? 'Error' : action.message,
  };
  await tables.actions.update(tx, changed);
}

/** Forgets the steps that a process was in when it ended: they are begun anew. */
export async function dropOpenEvents(tx: Tx, serverId: string, requestId: string): Promise<void> {
  const action = await tables.actions.lock(tx, compoundKey(serverId, requestId));
  if (!action?.events.some((event) => event.result === null)) return;
  await tables.actions.update(tx, { ...action, events: action.events.filter((event) => event.result !== null) });
}

/** Ends the steps of an action that are still under way: another action has taken their place. */
export async function closeEvents(
  tx: Tx,
  serverId: string,
  requestId: string,
  result: 'Success' | 'Error',
  now: number,
): Promise<void> {
  const action = await tables.actions.lock(tx, compoundKey(serverId, requestId));
  const details = result === 'Error' ? 'Another action took its place.' : null;
  const open = action?.events.filter((event) => event.result === null) ?? [];
  const closed = open.map((event) => ({ ...event, result, finishTime: now, details }));
  await recordEvents(tx, serverId, requestId, closed);
}
