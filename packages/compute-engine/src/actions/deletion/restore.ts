import { checkServerQuota } from '../../resources/quotas/server-quota.js';
import { machineAction } from '../power/machine-action.js';

/** Restores a soft-deleted server, which then counts against its project's quota again. */
export const restore = machineAction({
  name: 'restore',
  vmStates: ['soft-delete'],
  lock: true,
  during: ['restoring'],
  history: 'restore',
  notifies: 'restore',
  onFailure: 'unchanged',
  begin: async ({ core, context }) => ({
    arguments: {},
    change: async (tx, { projectId, flavor }) => {
      const ownerContext = { ...context, caller: { ...context.caller, projectId } };
      await checkServerQuota(core, tx, ownerContext, { instances: 1, cores: flavor.vcpus, ram: flavor.memoryMb });
      return { setAsideAt: null };
    },
  }),
  work: { verb: 'restore' },
  event: 'compute_restore_instance',
  vmState: 'active',
  powerState: 1,
});
