import { expect, it } from 'vitest';
import type { User } from '../../src/identity/identity-records.js';
import { tablesOf } from '../../src/identity/identity-tables.js';
import { isPasswordOf, type Lockout } from '../../src/identity/lockout.js';
import { Passwords } from '../../src/identity/passwords.js';
import { Documents } from '../../src/service/documents.js';

const SECOND = 1000;

async function directoryWith(lockout: Lockout | undefined, options: object = {}) {
  const passwords = new Passwords(2);
  const password = await passwords.hash('right');
  const user: User = { id: 'ada', name: 'ada', domain_id: 'default', enabled: true, password, options };
  const state = tablesOf(new Documents());
  state.users.set(user.id, user);
  let now = 0;
  const directory = { state, passwords, lockout, now: () => now };
  return {
    state,
    passwords,
    user,
    logIn: (given: string) => isPasswordOf(directory, state.users.get('ada'), given),
    logInUnknown: (given: string) => isPasswordOf(directory, undefined, given),
    pass: (seconds: number) => {
      now += seconds * SECOND;
    },
  };
}

it('locks an account after consecutive failed logins, until the duration after the last one has passed', async () => {
  const { logIn, pass } = await directoryWith({ failureAttempts: 3, durationSeconds: 60 });
  for (const password of ['a', 'b']) expect(await logIn(password)).toBe(false);
  expect(await logIn('right')).toBe(true);
  for (const password of ['a', 'b']) expect(await logIn(password)).toBe(false);
  pass(30);
  expect(await logIn('c')).toBe(false);
  pass(59);
  // Logins to a locked account do not extend the lock.
  for (const password of ['right', 'd']) expect(await logIn(password)).toBe(false);
  pass(1);
  expect(await logIn('e')).toBe(false);
  expect(await logIn('right')).toBe(true);
});

it('locks an account for an unlimited time without a duration', async () => {
  const { logIn, pass, state } = await directoryWith({ failureAttempts: 1 });
  expect(await logIn('wrong')).toBe(false);
  pass(1e9);
  expect(await logIn('right')).toBe(false);
  state.failedLogins.delete('ada');
  expect(await logIn('right')).toBe(true);
});

it('accepts no more concurrent logins than consecutive ones', async () => {
  const { logIn } = await directoryWith({ failureAttempts: 3, durationSeconds: 60 });
  const results = await Promise.all(['a', 'b', 'c', 'd', 'e'].map(logIn));
  expect(results).toEqual(results.map(() => false));
  expect(await logIn('right')).toBe(false);
  const other = await directoryWith({ failureAttempts: 2, durationSeconds: 60 });
  expect(await Promise.all(Array.from({ length: 5 }, () => other.logIn('right')))).toEqual(Array(5).fill(true));
});

it.each([
  ['without a limit', undefined, {}],
  ['of an exempt user', { failureAttempts: 1 }, { ignore_lockout_failure_attempts: true }],
])('never locks the account %s', async (_, lockout, options) => {
  const { logIn, state } = await directoryWith(lockout, options);
  for (const password of ['a', 'b', 'c']) expect(await logIn(password)).toBe(false);
  expect(state.failedLogins.size).toBe(0);
  expect(await logIn('right')).toBe(true);
});

it('rejects a password that was changed while it was checked', async () => {
  const { logIn, state, user, passwords } = await directoryWith(undefined);
  const login = logIn('right');
  state.users.set(user.id, { ...user, password: passwords.hashSync('new') });
  expect(await login).toBe(false);
  const last = logIn('new');
  state.users.delete(user.id);
  expect(await last).toBe(false);
});

it('computes one hash for every login, including those of unknown users and locked accounts', async () => {
  const { logIn, logInUnknown, passwords } = await directoryWith({ failureAttempts: 1 });
  const matches = passwords.matches.bind(passwords);
  const hashes: boolean[] = [];
  passwords.matches = (password, hash) => {
    hashes.push(hash !== undefined);
    return matches(password, hash);
  };
  expect([await logIn('wrong'), await logIn('right'), await logInUnknown('right')]).toEqual([false, false, false]);
  expect(hashes).toEqual([true, true, false]);
});
