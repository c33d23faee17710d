import type { Context } from '../context.js';
import type { Core } from '../core.js';
import { toldAction } from '../events/told-actions.js';
import type { Server } from '../model/index.js';
import type { Tx } from '../store/database.js';
import type { ActionRules } from './action.js';

/** Tells of an action what is told before its work begins, if anything. */
export async function tellAccepted(
  core: Core,
  tx: Tx,
  { name }: ActionRules,
  context: Context,
  server: Server,
  args?: unknown,
): Promise<void> {
  const { accepted } = toldAction(name);
  if (accepted) await core.events.stepped(tx, { name: accepted, server }, context, args);
}

/** Tells of an action that the request has done all of it. */
export async function tellAtOnce(
  core: Core,
  tx: Tx,
  { name }: ActionRules,
  context: Context,
  server: Server,
  args: unknown,
): Promise<void> {
  const { atOnce } = toldAction(name);
  if (!atOnce) return;
  await core.events.stepped(tx, { name: atOnce, phase: 'start', server }, context, args);
  await core.events.stepped(tx, { name: atOnce, phase: 'end', server }, context, args);
}
