import { compoundKey, type Store, type Tx } from '@apistrata/record-store';
import type { Context } from '../../core/context.js';
import type { ActionEvent, InstanceAction, Server } from '../../model/index.js';
import { tables } from '../../schema/tables.js';

/**
 * Records that a request started an action on a server. No-op if the request has already started an action on this
 * server.
 */
export async function recordAction(
  tx: Tx,
  context: Context,
  server: Pick<Server, 'id'>,
  action: string,
  now: number,
  events: readonly ActionEvent[] = [],
): Promise<void> {
  await tables.actions.insertIfAbsent(tx, {
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

/** Locks the history entry of a request's action until the transaction ends, and returns it for an update. */
export function lockAction(tx: Tx, serverId: string, requestId: string): Promise<InstanceAction | undefined> {
  return tables.actions.lockToUpdate(tx, compoundKey(serverId, requestId));
}

/** Adds events to an action's history entry, oldest first. An event with the same name and start time is replaced. */
export async function recordEvents(tx: Tx, action: InstanceAction, events: readonly ActionEvent[]): Promise<void> {
  const otherEvents = action.events.filter(
    (old) => !events.some((e) => e.name === old.name && e.startTime === old.startTime),
  );
  const all = [...otherEvents, ...events];
  const finished = all.flatMap(({ finishTime }) => finishTime ?? []);
  const changedAction: InstanceAction = {
    ...action,
    events: all,
    updatedAt: finished.length > 0 ? Math.max(...finished) : action.updatedAt,
    message: all.some(({ result }) => result === 'Error') ? 'Error' : action.message,
  };
  await tables.actions.update(tx, changedAction);
}

/** Deletes the open events of an attempt that has ended, because the next attempt records them again. */
export async function dropOpenEvents(store: Store, serverId: string, requestId: string): Promise<void> {
  await changeOpenEvents(store, serverId, requestId, () => undefined);
}

/** Ends the open events of an action that was superseded by another action. */
export async function closeEvents(
  store: Store,
  serverId: string,
  requestId: string,
  result: 'Success' | 'Error',
  now: number,
): Promise<void> {
  const details = result === 'Error' ? 'The action was superseded by another action.' : null;
  await changeOpenEvents(store, serverId, requestId, (event) => ({ ...event, result, finishTime: now, details }));
}

async function changeOpenEvents(
  store: Store,
  serverId: string,
  requestId: string,
  change: (event: ActionEvent) => ActionEvent | undefined,
): Promise<void> {
  const key = compoundKey(serverId, requestId);
  const isOpen = ({ result }: ActionEvent) => result === null;
  if (!(await tables.actions.get(store, key))?.events.some(isOpen)) return;
  await store.transaction(async (tx) => {
    const action = await lockAction(tx, serverId, requestId);
    if (!action) return;
    const events = action.events.flatMap((event) => (isOpen(event) ? (change(event) ?? []) : event));
    const failed = events.some(({ result }) => result === 'Error');
    const finished = events.flatMap(({ finishTime }) => finishTime ?? []);
    const updatedAt = finished.length > 0 ? Math.max(...finished) : action.updatedAt;
    await tables.actions.update(tx, { ...action, events, updatedAt, message: failed ? 'Error' : action.message });
  });
}
