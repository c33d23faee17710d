import type { Machines } from '../../drivers/machines.js';
import { conflict, notSupported, Rejection } from '../../errors/rejection.js';
import type { Server } from '../../model/index.js';
import type { ActionRules } from './action.js';

/**
 * Checks an action's preconditions in this order: lock, `vm_state`, `task_state`, attached shares, first launch. Throws
 * the error of the first violated precondition.
 * @param isAdmin whether the caller is an administrator, who may change locked servers
 */
export function checkAction(rules: ActionRules, server: Server, isAdmin: boolean): void {
  const nameInMessages = rules.nameInMessages ?? rules.name;
  if (rules.lock && server.lock && !isAdmin) throw conflict(`Instance ${server.id} is locked`);
  const createInvalidStateError = () =>
    conflict(`Instance ${server.id} is in an invalid state for '${nameInMessages}'`);
  const createStateError = (attribute: string, state: string | null) =>
    state === null
      ? createInvalidStateError()
      : conflict(`Cannot '${nameInMessages}' instance ${server.id} while it is in ${attribute} ${state}`);
  if (rules.vmStates && !rules.vmStates.includes(server.vmState)) throw createStateError('vm_state', server.vmState);
  const tasks = rules.taskStates ?? [null];
  const isExcluded = server.taskState !== null && rules.excludedTaskStates?.includes(server.taskState);
  if (isExcluded || (tasks !== 'any' && !tasks.includes(server.taskState)))
    throw createStateError('task_state', server.taskState);
  if (rules.rejectionWithShares && server.shares.length > 0)
    throw new Rejection(rules.rejectionWithShares, 'Feature not supported with instances that have shares.');
  if (!rules.neverLaunched && server.launchedAt === null) throw createInvalidStateError();
}

/** Throws an error if the driver does not support an action, regardless of the server's state. */
export function checkSupported({ needs, unsupported }: ActionRules, machines: Machines, server: Server): void {
  if (!needs || machines.supports(needs, server)) return;
  throw unsupported?.() ?? notSupported(`The driver of this host does not support the command ${needs}.`);
}

/**
 * Throws an error if a server's machine currently cannot execute an action. Sends a request to the host, so it must not
 * be called inside a transaction.
 */
export async function checkMachineReady({ needs }: ActionRules, machines: Machines, server: Server): Promise<void> {
  const obstacle = needs && (await machines.obstacle(server, needs));
  if (obstacle) throw new Rejection(obstacle.code, obstacle.message);
}
