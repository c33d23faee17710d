import { type ActionRules, action } from '../runner/action.js';
import { checkMachineReady } from '../runner/check-action.js';

/** A request to change the administrator password of a server's guest. */
export interface PasswordChange {
  readonly adminPassword: string;
}

const rules = {
  name: 'changePassword',
  vmStates: ['active'],
  needs: 'set_password',
  lock: true,
  history: 'changePassword',
  notifies: null,
} as const satisfies ActionRules;

/**
 * Sets the guest's administrator password. If the guest cannot set a password, the request is rejected with the reason.
 */
export const changePassword = action({
  ...rules,
  during: ['updating_password'],
  onFailure: 'unchanged',
  begin: async ({ core, server }, { adminPassword }: PasswordChange) => {
    await checkMachineReady(rules, core.machines, server);
    return { arguments: { adminPassword } };
  },
  run: async (run) => {
    const { adminPassword } = run.arguments;
    await run.perform({ verb: 'set_password', adminPassword }, 'updating_password', 'compute_set_admin_password');
    await run.finish({});
  },
});
