import { conflict } from '../errors.js';
import type { Server, TaskState, VmState } from '../model/index.js';

/** When a server may be acted on, and what is seen meanwhile. */
export interface Transition {
  /** States it must be in; left out: any. */
  readonly vm?: readonly VmState[];
  /** Tasks it may be in the middle of, null being none; default: none. `any`: whatever. */
  readonly task?: readonly (TaskState | null)[] | 'any';
  /** Tasks it may not be in the middle of, where any other is fine. */
  readonly notTask?: readonly TaskState[];
  /** Refused while the server is locked, except for administrators. */
  readonly lock: boolean;
  /** Also for servers that never ran. */
  readonly neverLaunched?: true;
  /** Refused while shares are attached: no other host could mount them. */
  readonly notWithShares?: true;
  /** Tasks seen one after the other while it is under way; the first is set at once. */
  readonly during: readonly TaskState[];
  /** Name in the server's history; undefined: it leaves none. */
  readonly history: string | undefined;
  /** The word the 409 uses, where it is not the table's key. */
  readonly word?: string;
  /** What becomes of the server when the driver fails: it stays as it was, or is in error. */
  readonly onFailure: 'unchanged' | 'error';
}

const RUNS = ['active', 'paused', 'suspended', 'stopped'] as const;
const RESIZING = ['resize_prep', 'resize_migrating', 'resize_migrated', 'resize_finish'] as const;
const SNAPSHOT = ['image_snapshot_pending', 'image_snapshot', 'image_pending_upload', 'image_uploading'] as const;

/** Every action on a server. Checks, 409 texts, background work, documents and the model test all read this table. */
export const transitions = {
  create: {
    lock: false,
    neverLaunched: true,
    during: ['scheduling', 'block_device_mapping', 'networking', 'spawning'],
    history: 'create',
    onFailure: 'error',
  },
  'os-start': {
    vm: ['stopped'],
    lock: true,
    during: ['powering-on'],
    history: 'start',
    word: 'start',
    onFailure: 'unchanged',
  },
  'os-stop': {
    vm: ['active', 'error'],
    lock: true,
    during: ['powering-off'],
    history: 'stop',
    word: 'stop',
    onFailure: 'unchanged',
  },
  rebootSoft: {
    vm: ['active'],
    lock: true,
    during: ['rebooting', 'reboot_pending', 'reboot_started'],
    history: 'reboot',
    word: 'reboot',
    onFailure: 'error',
  },
  rebootHard: {
    vm: ['active', 'stopped', 'paused', 'suspended', 'error'],
    task: [
      null,
      'rebooting',
      'reboot_pending',
      'reboot_started',
      'rebooting_hard',
      'resuming',
      'unpausing',
      'pausing',
      'suspending',
    ],
    lock: true,
    during: ['rebooting_hard', 'reboot_pending_hard', 'reboot_started_hard'],
    history: 'reboot',
    word: 'reboot',
    onFailure: 'error',
  },
  pause: { vm: ['active'], lock: true, during: ['pausing'], history: 'pause', onFailure: 'unchanged' },
  unpause: { vm: ['paused'], lock: true, during: ['unpausing'], history: 'unpause', onFailure: 'unchanged' },
  suspend: { vm: ['active'], lock: true, during: ['suspending'], history: 'suspend', onFailure: 'error' },
  resume: { vm: ['suspended'], lock: true, during: ['resuming'], history: 'resume', onFailure: 'error' },
  rescue: {
    vm: ['active', 'stopped', 'error'],
    lock: true,
    during: ['rescuing'],
    history: 'rescue',
    onFailure: 'error',
  },
  unrescue: { vm: ['rescued'], lock: true, during: ['unrescuing'], history: 'unrescue', onFailure: 'error' },
  rebuild: {
    vm: ['active', 'stopped', 'error'],
    lock: true,
    during: ['rebuilding', 'rebuild_block_device_mapping', 'rebuild_spawning'],
    history: 'rebuild',
    onFailure: 'error',
  },
  resize: {
    notWithShares: true,
    vm: ['active', 'stopped'],
    lock: true,
    during: RESIZING,
    history: 'resize',
    onFailure: 'error',
  },
  migrate: {
    notWithShares: true,
    vm: ['active', 'stopped'],
    lock: true,
    during: RESIZING,
    history: 'migrate',
    onFailure: 'error',
  },
  confirmResize: {
    vm: ['resized'],
    lock: true,
    during: ['resize_confirming'],
    history: 'confirmResize',
    onFailure: 'error',
  },
  revertResize: {
    vm: ['resized'],
    lock: true,
    during: ['resize_reverting'],
    history: 'revertResize',
    onFailure: 'error',
  },
  createImage: { vm: RUNS, lock: false, during: SNAPSHOT, history: 'createImage', onFailure: 'unchanged' },
  createBackup: {
    vm: RUNS,
    lock: false,
    during: ['image_backup', ...SNAPSHOT.slice(1)],
    history: 'createBackup',
    onFailure: 'unchanged',
  },
  changePassword: {
    vm: ['active'],
    lock: true,
    during: ['updating_password'],
    history: 'changePassword',
    onFailure: 'error',
  },
  shelve: {
    notWithShares: true,
    vm: RUNS,
    lock: true,
    during: ['shelving', 'shelving_image_pending_upload', 'shelving_image_uploading'],
    history: 'shelve',
    onFailure: 'error',
  },
  shelveOffload: {
    vm: ['shelved'],
    lock: true,
    during: ['shelving_offloading'],
    history: 'shelveOffload',
    onFailure: 'error',
  },
  unshelve: {
    vm: ['shelved', 'shelved_offloaded'],
    lock: true,
    during: ['unshelving', 'spawning'],
    history: 'unshelve',
    onFailure: 'unchanged',
  },
  'os-migrateLive': {
    notWithShares: true,
    vm: ['active', 'paused'],
    lock: true,
    during: ['migrating'],
    history: 'live-migration',
    onFailure: 'unchanged',
  },
  evacuate: {
    notWithShares: true,
    vm: ['active', 'stopped', 'error'],
    task: 'any',
    lock: false,
    during: ['rebuilding', 'rebuild_block_device_mapping', 'rebuild_spawning'],
    history: 'evacuate',
    onFailure: 'error',
  },
  restore: { vm: ['soft-delete'], lock: true, during: ['restoring'], history: 'restore', onFailure: 'unchanged' },
  forceDelete: {
    task: 'any',
    lock: true,
    neverLaunched: true,
    during: ['deleting'],
    history: 'delete',
    onFailure: 'error',
  },
  delete: { task: 'any', lock: true, neverLaunched: true, during: ['deleting'], history: 'delete', onFailure: 'error' },
  softDelete: {
    task: 'any',
    lock: true,
    neverLaunched: true,
    during: ['soft-deleting'],
    history: 'delete',
    word: 'delete',
    onFailure: 'error',
  },
  trigger_crash_dump: {
    vm: ['active', 'paused', 'rescued', 'resized', 'error'],
    lock: true,
    during: [],
    history: 'trigger_crash_dump',
    onFailure: 'unchanged',
  },
  'os-resetState': {
    task: 'any',
    lock: false,
    neverLaunched: true,
    during: [],
    history: 'resetState',
    onFailure: 'unchanged',
  },
  injectNetworkInfo: { lock: true, during: [], history: undefined, onFailure: 'unchanged' },
  lock: { task: 'any', lock: false, neverLaunched: true, during: [], history: 'lock', onFailure: 'unchanged' },
  unlock: { task: 'any', lock: false, neverLaunched: true, during: [], history: 'unlock', onFailure: 'unchanged' },
  addFixedIp: { lock: true, during: [], history: undefined, word: 'add_fixed_ip', onFailure: 'unchanged' },
  removeFixedIp: { lock: true, during: [], history: undefined, word: 'remove_fixed_ip', onFailure: 'unchanged' },
  console: {
    task: 'any',
    notTask: ['deleting', 'migrating'],
    lock: false,
    during: [],
    history: undefined,
    word: 'get_console',
    onFailure: 'unchanged',
  },
  'os-getConsoleOutput': {
    task: 'any',
    lock: false,
    neverLaunched: true,
    during: [],
    history: undefined,
    onFailure: 'unchanged',
  },
  metadata: {
    vm: RUNS,
    task: 'any',
    lock: true,
    during: [],
    history: undefined,
    word: 'update metadata',
    onFailure: 'unchanged',
  },
  tags: {
    vm: RUNS,
    task: 'any',
    lock: false,
    neverLaunched: true,
    during: [],
    history: undefined,
    word: 'update tags',
    onFailure: 'unchanged',
  },
  attachVolume: {
    vm: ['active', 'paused', 'stopped', 'resized', 'soft-delete', 'shelved', 'shelved_offloaded'],
    lock: true,
    during: [],
    history: 'attach_volume',
    word: 'attach_volume',
    onFailure: 'unchanged',
  },
  detachVolume: {
    vm: ['active', 'paused', 'stopped', 'resized', 'soft-delete', 'shelved', 'shelved_offloaded'],
    lock: true,
    during: [],
    history: 'detach_volume',
    word: 'detach_volume',
    onFailure: 'unchanged',
  },
  swapVolume: {
    vm: ['active', 'paused', 'resized'],
    lock: true,
    during: [],
    history: 'swap_volume',
    word: 'swap_volume',
    onFailure: 'unchanged',
  },
  extendVolume: {
    task: 'any',
    lock: false,
    during: [],
    history: 'extend_volume',
    word: 'extend_volume',
    onFailure: 'unchanged',
  },
  attachInterface: {
    vm: ['active', 'paused', 'stopped'],
    lock: true,
    during: [],
    history: 'attach_interface',
    word: 'attach_interface',
    onFailure: 'unchanged',
  },
  detachInterface: {
    vm: ['active', 'paused', 'stopped'],
    lock: true,
    during: [],
    history: 'detach_interface',
    word: 'detach_interface',
    onFailure: 'unchanged',
  },
  attachShare: {
    vm: ['stopped'],
    lock: false,
    during: [],
    history: 'attach_share',
    word: 'attach_share',
    onFailure: 'unchanged',
  },
  detachShare: {
    vm: ['stopped', 'error'],
    lock: false,
    during: [],
    history: 'detach_share',
    word: 'detach_share',
    onFailure: 'unchanged',
  },
  live_migration_force_complete: {
    vm: ['active'],
    task: ['migrating'],
    lock: true,
    during: [],
    history: 'live_migration_force_complete',
    word: 'force_complete',
    onFailure: 'unchanged',
  },
  live_migration_cancel: {
    task: ['migrating'],
    lock: true,
    during: [],
    history: 'live_migration_cancel',
    word: 'abort live migration',
    onFailure: 'unchanged',
  },
  update: { task: 'any', lock: false, neverLaunched: true, during: [], history: undefined, onFailure: 'unchanged' },
} as const satisfies Record<string, Transition>;

export type ActionName = keyof typeof transitions;

/** The table's row, in its general form. */
export function transitionOf(action: ActionName): Transition {
  return transitions[action];
}

/**
 * Throws the 409 that the action meets on this server: lock, then vm_state, task_state, never launched.
 * @param isAdmin administrators pass a lock
 */
export function checkTransition(action: ActionName, server: Server, isAdmin: boolean): void {
  const rule = transitionOf(action);
  const word = rule.word ?? action;
  if (rule.lock && server.lock && !isAdmin) throw conflict(`Instance ${server.id} is locked`);
  const refuse = (attribute: string, state: string | null) =>
    conflict(`Cannot '${word}' instance ${server.id} while it is in ${attribute} ${state}`);
  if (rule.vm && !rule.vm.includes(server.vmState)) throw refuse('vm_state', server.vmState);
  const tasks = rule.task ?? [null];
  const excluded = server.taskState !== null && rule.notTask?.includes(server.taskState);
  if (excluded || (tasks !== 'any' && !tasks.includes(server.taskState))) throw refuse('task_state', server.taskState);
  if (rule.notWithShares && server.shares.length > 0)
    throw conflict(`Cannot '${word}' instance ${server.id} while shares are attached to it`);
  if (!rule.neverLaunched && server.launchedAt === null)
    throw conflict(`Instance ${server.id} is in an invalid state for '${word}'`);
}
