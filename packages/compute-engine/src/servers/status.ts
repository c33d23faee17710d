import type { Server, TaskState, VmState } from '../model/index.js';

const REBUILD_TASK_STATES: readonly TaskState[] = ['rebuilding', 'rebuild_block_device_mapping', 'rebuild_spawning'];
const RESIZE_TASK_STATES: readonly TaskState[] = [
  'resize_prep',
  'resize_migrating',
  'resize_migrated',
  'resize_finish',
];

interface StatusRule {
  readonly status: string;
  /** Statuses that the API shows instead of `status` during the given task states. */
  readonly tasks?: readonly (readonly [string, readonly TaskState[]])[];
}

/** The server statuses in the API, by `vm_state` and `task_state`. */
const statusRules: Readonly<Record<VmState, StatusRule>> = {
  active: {
    status: 'ACTIVE',
    tasks: [
      ['REBOOT', ['rebooting', 'reboot_pending', 'reboot_started']],
      ['HARD_REBOOT', ['rebooting_hard', 'reboot_pending_hard', 'reboot_started_hard']],
      ['PASSWORD', ['updating_password']],
      ['REBUILD', REBUILD_TASK_STATES],
      ['MIGRATING', ['migrating']],
      ['RESIZE', RESIZE_TASK_STATES],
    ],
  },
  building: { status: 'BUILD' },
  stopped: {
    status: 'SHUTOFF',
    tasks: [
      ['RESIZE', RESIZE_TASK_STATES],
      ['REBUILD', REBUILD_TASK_STATES],
    ],
  },
  resized: { status: 'VERIFY_RESIZE', tasks: [['REVERT_RESIZE', ['resize_reverting']]] },
  paused: { status: 'PAUSED', tasks: [['MIGRATING', ['migrating']]] },
  suspended: { status: 'SUSPENDED' },
  rescued: { status: 'RESCUE' },
  error: { status: 'ERROR', tasks: [['REBUILD', REBUILD_TASK_STATES]] },
  deleted: { status: 'DELETED' },
  'soft-delete': { status: 'SOFT_DELETED' },
  shelved: { status: 'SHELVED' },
  shelved_offloaded: { status: 'SHELVED_OFFLOADED' },
};

/** Returns the status that the API shows for a server. The status of a deleted server is always DELETED. */
export function statusOf(server: Pick<Server, 'vmState' | 'taskState' | 'deleted'>): string {
  if (server.deleted) return 'DELETED';
  const rule = statusRules[server.vmState];
  if (!rule) return 'UNKNOWN';
  const task = server.taskState;
  return (task && rule.tasks?.find(([, tasks]) => tasks.includes(task))?.[0]) || rule.status;
}

/**
 * Returns the states in which a server has the given status, without task states if the status does not depend on them.
 * Returns an empty list for an unknown status.
 */
export function statesOf(
  status: string,
): readonly { readonly vmState: VmState; readonly taskStates?: readonly TaskState[] }[] {
  const statusName = status.toUpperCase();
  return (Object.entries(statusRules) as [VmState, StatusRule][]).flatMap(([vmState, rule]) => {
    if (rule.status === statusName) return [{ vmState }];
    const taskStates = rule.tasks?.find(([name]) => name === statusName)?.[1];
    return taskStates ? [{ vmState, taskStates }] : [];
  });
}
