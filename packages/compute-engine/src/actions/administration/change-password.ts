import { action } from '../../runs/action.js';

/** A request for another administrator password. */
export interface PasswordChange {
  readonly adminPassword: string;
}

/** Tells the guest its new password. */
export const changePassword = action({
  name: 'changePassword',
  vm: ['active'],
  needs: 'set_password',
  lock: true,
  during: ['updating_password'],
  history: 'changePassword',
  onFailure: 'error',
  begin: async (_scope, { adminPassword }: PasswordChange) => ({ arguments: { adminPassword } }),
  run: async (run) => {
    const { adminPassword } = run.arguments;
    await run.perform({ verb: 'set_password', adminPassword }, 'updating_password', 'compute_set_admin_password');
    await run.finish({});
  },
});
