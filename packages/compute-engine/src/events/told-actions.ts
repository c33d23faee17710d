/** How an action is told: `instance.NAME.start`, `.end`, `.error`, under the names that the original has for them. */
export interface ToldAction {
  /** Told without a phase when the action is accepted, as the original does for a few. */
  readonly accepted?: string;
  /** Told when the work begins and when it has come to its end. Left out: the work tells its steps itself. */
  readonly around?: string;
  /** Told, as begun and ended, when the request has done all of the work itself. */
  readonly atOnce?: string;
  /** Told when the work fails. */
  readonly failed?: string;
}

const around = (name: string): ToldAction => ({ around: name, atOnce: name, failed: name });
const failing = (name: string): ToldAction => ({ failed: name });

/** By the action's name. Those that are not here tell nothing but the changes of state that they make. */
export const toldActions: Readonly<Record<string, ToldAction>> = {
  create: around('create'),
  delete: around('delete'),
  forceDelete: around('delete'),
  softDelete: around('soft_delete'),
  restore: around('restore'),
  'os-start': around('power_on'),
  'os-stop': around('power_off'),
  rebootSoft: around('reboot'),
  rebootHard: around('reboot'),
  pause: around('pause'),
  unpause: around('unpause'),
  suspend: around('suspend'),
  resume: around('resume'),
  lock: { accepted: 'lock' },
  unlock: { accepted: 'unlock' },
  rebuild: { accepted: 'rebuild_scheduled', ...around('rebuild') },
  evacuate: { accepted: 'evacuate', ...failing('rebuild') },
  rescue: around('rescue'),
  unrescue: around('unrescue'),
  resize: failing('resize'),
  migrate: failing('resize'),
  confirmResize: around('resize_confirm'),
  revertResize: failing('resize_revert'),
  live_migration_cancel: around('live_migration_abort'),
  live_migration_force_complete: around('live_migration_force_complete'),
  shelve: failing('shelve'),
  shelveOffload: failing('shelve_offload'),
  unshelve: around('unshelve'),
  createImage: around('snapshot'),
  createBackup: around('snapshot'),
  // What its job does is to take back what a request that died had begun.
  attachInterface: { atOnce: 'interface_attach', failed: 'interface_attach' },
  detachInterface: around('interface_detach'),
  attachVolume: around('volume_attach'),
  detachVolume: around('volume_detach'),
  swapVolume: around('volume_swap'),
  attachShare: around('share_attach'),
  detachShare: around('share_detach'),
  trigger_crash_dump: around('trigger_crash_dump'),
};

const nothing: ToldAction = {};

/** How an action is told; for one that is not told at all, nothing. */
export function toldAction(name: string): ToldAction {
  return (Object.hasOwn(toldActions, name) && toldActions[name]) || nothing;
}
