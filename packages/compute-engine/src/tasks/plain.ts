import type { ActionName } from '../lifecycle/transitions.js';
import { followServer } from '../migrations/follow-server.js';
import type { SideTask } from './side-run.js';
import type { Task } from './task.js';

/** Tells the guest its new password. */
export const changePasswordTask: Task = {
  action: 'changePassword',
  run: async (run) => {
    const adminPassword: string = run.arguments.adminPassword;
    await run.perform({ verb: 'set_password', adminPassword }, 'updating_password', 'compute_set_admin_password');
    await run.finish({});
  },
};

/** What a reset leaves to do: it has taken the server from whatever job had it, and lets it go where it is. */
export const resetStateTask: Task = {
  action: 'os-resetState',
  run: async (run) => {
    await followServer(run).catch(() => {});
    await run.finish({});
  },
};

/** Work on the machine that changes nothing of what is known of the server, so it goes on beside other jobs. */
function beside(action: ActionName, verb: 'crash_dump' | 'inject_network_info', event: string): SideTask {
  return {
    action,
    run: async (run) => {
      await run.perform({ verb }, undefined, event);
      await run.finish({});
    },
    undo: async () => {},
  };
}

export const crashDumpTask = beside('trigger_crash_dump', 'crash_dump', 'compute_trigger_crash_dump');
export const injectNetworkInfoTask = beside('injectNetworkInfo', 'inject_network_info', 'compute_inject_network_info');
