import { type ActionRules, action } from '../runner/action.js';
import { requireNoObstacle } from '../runner/check-action.js';

/** A request to change the administrator password. */
export interface PasswordChange {
  readonly adminPassword: string;
}

const rules = {
  name: 'changePassword',
  vm: ['active'],
  needs: 'set_password',
  lock: true,
  history: 'changePassword',
  notifies: null,
} as const satisfies ActionRules;

/** Sets the administrator password of the guest. The request is rejected with the reason if the guest cannot set it. */
export const changePassword = action({
  ...rules,
  during: ['updating_password'],
  onFailure: 'unchanged',
  begin: async ({ core, server }, { adminPassword }: PasswordChange) => {
    await requireNoObstacle(rules, core.machines, server);
    return { arguments: { adminPassword } };
  },
  run: async (run) => {
    const { adminPassword } = run.arguments;
    await run.perform({ verb: 'set_password', adminPassword }, 'updating_password', 'compute_set_admin_password');
    await run.finish({});
  },
});
