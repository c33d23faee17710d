import { changePassword } from './administration/change-password.js';
import { injectNetworkInfo } from './administration/inject-network-info.js';
import { resetState } from './administration/reset-state.js';
import { triggerCrashDump } from './administration/trigger-crash-dump.js';
import { create } from './create/create.js';
import { unfinishedCreate } from './create/unfinished-create.js';
import { deleteServer } from './deletion/delete.js';
import { forceDelete } from './deletion/force-delete.js';
import { restore } from './deletion/restore.js';
import { softDelete } from './deletion/soft-delete.js';
import { createBackup } from './images/create-backup.js';
import { createImage } from './images/create-image.js';
import { immediateActions } from './immediate.js';
import { attachInterface } from './interfaces/attach-interface.js';
import { detachInterface } from './interfaces/detach-interface.js';
import { abortLiveMigration } from './moves/abort-live-migration.js';
import { confirmResize } from './moves/confirm-resize.js';
import { evacuate } from './moves/evacuate.js';
import { forceComplete } from './moves/force-complete.js';
import { liveMigrate } from './moves/live-migrate.js';
import { migrate } from './moves/migrate.js';
import { resize } from './moves/resize.js';
import { revertResize } from './moves/revert-resize.js';
import { followPower } from './power/follow-power.js';
import { pause } from './power/pause.js';
import { rebootHard } from './power/reboot-hard.js';
import { rebootSoft } from './power/reboot-soft.js';
import { resume } from './power/resume.js';
import { start } from './power/start.js';
import { stop } from './power/stop.js';
import { suspend } from './power/suspend.js';
import { unpause } from './power/unpause.js';
import { rebuild } from './rebuild/rebuild.js';
import { rescue } from './rescue/rescue.js';
import { unrescue } from './rescue/unrescue.js';
import type { Action, ActionRules, AnyAction, ConcurrentAction } from './runner/action.js';
import type { Cleanup } from './runner/cleanup.js';
import { attachShare } from './shares/attach-share.js';
import { detachShare } from './shares/detach-share.js';
import { shelve } from './shelving/shelve.js';
import { shelveOffload } from './shelving/shelve-offload.js';
import { unshelve } from './shelving/unshelve.js';
import { attachVolume } from './volumes/attach-volume.js';
import { detachVolume } from './volumes/detach-volume.js';
import { extendVolume } from './volumes/extend-volume.js';
import { swapVolume } from './volumes/swap-volume.js';

/** The definitions of all server actions that run background work. */
export const actions = [
  create,
  start,
  stop,
  rebootSoft,
  rebootHard,
  pause,
  unpause,
  suspend,
  resume,
  rescue,
  unrescue,
  rebuild,
  resize,
  migrate,
  confirmResize,
  revertResize,
  liveMigrate,
  forceComplete,
  abortLiveMigration,
  evacuate,
  createImage,
  createBackup,
  shelve,
  shelveOffload,
  unshelve,
  changePassword,
  resetState,
  triggerCrashDump,
  injectNetworkInfo,
  attachVolume,
  detachVolume,
  swapVolume,
  extendVolume,
  attachInterface,
  detachInterface,
  attachShare,
  detachShare,
  softDelete,
  restore,
  forceDelete,
  deleteServer,
] as const;

type AnyBackgroundAction = (typeof actions)[number];

/**
 * Names of the actions that run background work. The names are also the `kind` of stored jobs, so they must never
 * change.
 */
export type BackgroundActionName = AnyBackgroundAction['name'];

/** Names of all server actions, with or without background work. */
export type ActionName = BackgroundActionName | (typeof immediateActions)[number]['name'];

/** Names of the actions that can be started on an existing server. */
export type ServerActionName = Exclude<BackgroundActionName, 'create'>;

type ActionWithName<Name extends BackgroundActionName> = Extract<AnyBackgroundAction, { readonly name: Name }>;

type InferRequest<Definition> =
  Definition extends Action<any, infer Request, any, any>
    ? Request
    : Definition extends ConcurrentAction<any, infer Request, any, any>
      ? Request
      : never;

type InferResult<Definition> =
  Definition extends Action<any, any, any, infer Result>
    ? Result
    : Definition extends ConcurrentAction<any, any, any, infer Result>
      ? Result
      : never;

/** The type of an action's request. */
export type RequestOf<Name extends BackgroundActionName> = InferRequest<ActionWithName<Name>>;

/** The type of the value that an action returns to its caller. */
export type ResultOf<Name extends BackgroundActionName> = InferResult<ActionWithName<Name>>;

/**
 * Handlers of jobs that are not part of an action, by job kind: cleanup after incomplete actions, and updates after the
 * state of a machine has changed without a request.
 */
export const cleanupsByKind: ReadonlyMap<string, Cleanup> = new Map(
  [unfinishedCreate, followPower].map((record) => [record.name, record]),
);

/** Action definitions by name. The name is also the kind of the action's jobs. */
export const actionsByName: ReadonlyMap<string, AnyAction> = new Map(actions.map((record) => [record.name, record]));

/** The preconditions of all server actions, by action name. */
export const rulesByName: ReadonlyMap<string, ActionRules> = new Map(
  [...actions, ...immediateActions].map((record) => [record.name, record]),
);

/** Returns the preconditions of an action. */
export function rulesOf(name: ActionName): ActionRules {
  const rules = rulesByName.get(name);
  if (!rules) throw new TypeError(`unknown action "${name}" (known: ${[...rulesByName.keys()].join(', ')})`);
  return rules;
}

/**
 * Merges the API's actions with custom actions.
 *
 * @throws TypeError if two actions have the same name
 */
export function mergeCustomActions(custom: readonly AnyAction[]): ReadonlyMap<string, AnyAction> {
  const all = new Map(actionsByName);
  for (const record of custom) {
    if (all.has(record.name)) throw new TypeError(`createEngine(): the action "${record.name}" already exists`);
    all.set(record.name, record);
  }
  return all;
}
