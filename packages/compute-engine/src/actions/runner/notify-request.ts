import type { Tx } from '@apistrata/record-store';
import type { Context } from '../../core/context.js';
import type { Core } from '../../core/core.js';
import type { Server } from '../../model/index.js';
import type { ActionRules } from './action.js';
import { notificationsOf } from './notifications.js';

/** Sends the notification that an action was accepted, if the action defines one. */
export async function notifyAccepted(
  core: Core,
  tx: Tx,
  rules: ActionRules,
  context: Context,
  server: Server,
  args?: unknown,
): Promise<void> {
  const { accepted } = notificationsOf(rules);
  if (accepted) await core.events.emitStep(tx, { name: accepted, server }, context, args);
}

/**
 * Sends the start and end notifications of an action that the request itself has completed, if the action defines them.
 */
export async function notifyCompleted(
  core: Core,
  tx: Tx,
  rules: ActionRules,
  context: Context,
  server: Server,
  args: unknown,
): Promise<void> {
  const { completed } = notificationsOf(rules);
  if (!completed) return;
  await core.events.emitStep(tx, { name: completed, phase: 'start', server }, context, args);
  await core.events.emitStep(tx, { name: completed, phase: 'end', server }, context, args);
}
