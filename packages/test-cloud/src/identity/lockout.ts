import type { User } from './identity-records.js';
import type { tablesOf } from './identity-tables.js';
import type { Passwords } from './passwords.js';
import type { UserOptions } from './user-options.js';

/** The rule that locks accounts after failed logins. */
export interface Lockout {
  /** The number of consecutive failed logins that locks an account; minimum 1. */
  readonly failureAttempts: number;
  /** The lock's duration, in seconds after the last failed login; default: until an administrator changes the user. */
  readonly durationSeconds?: number;
}

/** The parts of the directory that check passwords and count failed logins. */
interface Directory {
  readonly state: ReturnType<typeof tablesOf>;
  readonly passwords: Passwords;
  readonly lockout: Lockout | undefined;
  now(): number;
}

/** Returns whether an account is locked. Removes an expired lock. */
function isLocked(directory: Directory, { failureAttempts, durationSeconds }: Lockout, userId: string): boolean {
  const { failedLogins } = directory.state;
  const loginFailures = failedLogins.get(userId);
  if (!loginFailures || loginFailures.count < failureAttempts) return false;
  if (durationSeconds === undefined || loginFailures.at + durationSeconds * 1000 > directory.now()) return true;
  failedLogins.delete(userId);
  return false;
}

/**
 * Counts a failed login, or resets the count after a successful one. If the account is locked, changes nothing and
 * returns false.
 */
function recordLogin(directory: Directory, user: User, isMatch: boolean): boolean {
  const { lockout } = directory;
  const isExempt = (user.options as UserOptions | undefined)?.ignore_lockout_failure_attempts;
  if (!lockout || isExempt) return true;
  if (isLocked(directory, lockout, user.id)) return false;
  const { failedLogins } = directory.state;
  if (isMatch) failedLogins.delete(user.id);
  else failedLogins.set(user.id, { count: (failedLogins.get(user.id)?.count ?? 0) + 1, at: directory.now() });
  return true;
}

/**
 * Returns whether a password is correct and the account is not locked. Counts failed logins. Takes the same time for
 * unknown users and locked accounts, so that the duration does not reveal whether a user exists or is locked.
 */
export async function isPasswordOf(directory: Directory, user: User | undefined, password: string): Promise<boolean> {
  const isMatch = await directory.passwords.matches(password, user?.password);
  // All checks follow the computation of the hash, so that concurrent logins cannot exceed the limit and a password that
  // was changed in the meantime is rejected.
  const currentUser = user && directory.state.users.get(user.id);
  if (!currentUser) return false;
  const isCurrent = isMatch && currentUser.password === user.password;
  return recordLogin(directory, currentUser, isCurrent) && isCurrent;
}
