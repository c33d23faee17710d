import { compoundKey, type Store, type Tx } from '@apistrata/record-store';
import type { Context } from '../../core/context.js';
import type { ActionEvent, InstanceAction, Server } from '../../model/index.js';
import { tables } from '../../schema/tables.js';

/** Writes down that a request did something to a server. A second action of the same request adds nothing. */
export async function recordAction(
  tx: Tx,
  context: Context,
  server: Pick<Server, 'id'>,
  action: string,
  now: number,
  events: readonly ActionEvent[] = [],
): Promise<void> {
  await tables.actions.insertUnlessThere(tx, {
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

/** What a request has done to a server, kept from others until the transaction ends. */
export function lockAction(tx: Tx, serverId: string, requestId: string): Promise<InstanceAction | undefined> {
  return tables.actions.lock(tx, compoundKey(serverId, requestId));
}

/** Adds finished steps to an action, oldest first; a step with the same name and start replaces itself. */
export async function recordEvents(tx: Tx, action: InstanceAction, events: readonly ActionEvent[]): Promise<void> {
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
export async function dropOpenEvents(store: Store, serverId: string, requestId: string): Promise<void> {
  await changeOpenEvents(store, serverId, requestId, () => undefined);
}

/** Ends the steps of an action that are still under way: another action has taken their place. */
export async function closeEvents(
  store: Store,
  serverId: string,
  requestId: string,
  result: 'Success' | 'Error',
  now: number,
): Promise<void> {
  const details = result === 'Error' ? 'Another action took its place.' : null;
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
