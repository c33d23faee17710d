import type { Context } from '../../../context.js';
import { badRequest } from '../../../errors.js';
import { endMigrations } from '../../../migrations/migration-record.js';
import { checkServerQuota } from '../../../quotas/server-quota.js';
import { keepClaim, ownClaim } from '../../../scheduler/server-claims.js';
import { SideActions } from '../side-actions.js';
import type { ActionScope } from './scope.js';

/** What operators do to servers, and what brings servers back. */
export function administrationActions({ core, servers }: ActionScope) {
  const beside = new SideActions(core);

  return {
    async changePassword(context: Context, id: string, adminPassword: string): Promise<void> {
      await servers.act(context, id, 'changePassword', { arguments: { adminPassword } });
    },

    /** Says what state a server is in, whatever was being done to it: that is over. */
    async resetState(context: Context, id: string, state: 'active' | 'error'): Promise<void> {
      await servers.act(context, id, 'os-resetState', {
        also: async (tx, server) => {
          await endMigrations(tx, core, id);
          const claims = await keepClaim(tx, server, ownClaim(server));
          return { ...claims, vmState: state, taskState: null, oldFlavor: null, newFlavor: undefined };
        },
      });
    },

    /** Takes a soft-deleted server back into use; it counts against the quota again. */
    async restore(context: Context, id: string): Promise<void> {
      await servers.act(context, id, 'restore', {
        also: async (tx, { projectId, flavor }) => {
          const asOwner = { ...context, caller: { ...context.caller, projectId } };
          await checkServerQuota(core, tx, asOwner, { instances: 1, cores: flavor.vcpus, ram: flavor.memoryMb });
          return { setAsideAt: undefined };
        },
      });
    },

    async triggerCrashDump(context: Context, id: string): Promise<void> {
      await servers.ready(context, id, 'trigger_crash_dump');
      if (core.driver.supports?.('crash_dump') === false)
        throw badRequest('Triggering a crash dump is not supported by this driver.');
      await beside.begin(context, id, 'trigger_crash_dump', { arguments: {} });
    },

    async injectNetworkInfo(context: Context, id: string): Promise<void> {
      await beside.begin(context, id, 'injectNetworkInfo', { arguments: {} });
    },
  };
}
