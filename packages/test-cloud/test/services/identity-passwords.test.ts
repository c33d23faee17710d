import { expect, it, onTestFinished, vi } from 'vitest';
import { Passwords } from '../../src/identity/passwords.js';
import { clientOf, cloudUnderTest } from '../clouds.js';
import { logIn, passwordOf } from './delegation-cloud.js';

it('rejects a new password without the right old one, with the 401 of any failed login', async () => {
  const cloud = await cloudUnderTest();
  const login = await logIn(cloud, passwordOf('demo'));
  const path = `/identity/v3/users/${login.body.token.user.id}/password`;
  const request = clientOf(cloud, login.token);
  const change = (original_password: string, password: string) =>
    request('POST', path, { user: { password, original_password } });
  expect(await change('wrong', 'new')).toMatchObject({
    status: 401,
    body: {
      error: { code: 401, title: 'Unauthorized', message: 'The request you have made requires authentication.' },
    },
  });
  expect((await change('secret', 'new')).status).toBe(204);
  expect((await logIn(cloud, passwordOf('demo'))).status).toBe(401);
});

it('does not store a new password for a user that is deleted in the meantime', async () => {
  const cloud = await cloudUnderTest();
  const admin = clientOf(cloud, cloud.token('admin', 'admin', ['admin']));
  const login = await logIn(cloud, passwordOf('demo'));
  const path = `/identity/v3/users/${login.body.token.user.id}`;
  const { hash } = Passwords.prototype;
  const spy = vi.spyOn(Passwords.prototype, 'hash').mockImplementation(async function (this: Passwords, password) {
    expect((await admin('DELETE', path)).status).toBe(204);
    return hash.call(this, password);
  });
  onTestFinished(() => spy.mockRestore());
  const user = { password: 'new', original_password: 'secret' };
  expect((await clientOf(cloud, login.token)('POST', `${path}/password`, { user })).status).toBe(401);
  expect((await admin('GET', path)).status).toBe(404);
});

it('lets a user whose password is locked log in, but not change the password', async () => {
  const cloud = await cloudUnderTest();
  const admin = clientOf(cloud, cloud.token('admin', 'admin', ['admin']));
  const login = await logIn(cloud, passwordOf('demo'));
  const path = `/identity/v3/users/${login.body.token.user.id}`;
  const setOptions = (options: object) => admin('PATCH', path, { user: { options } });
  const change = () =>
    clientOf(cloud, login.token)('POST', `${path}/password`, { user: { password: 'b', original_password: 'secret' } });
  expect((await setOptions({ lock_password: true })).body.user.options).toEqual({ lock_password: true });
  expect(await change()).toMatchObject({
    status: 400,
    body: {
      error: {
        message:
          'You cannot change your password at this time due to password policy disallowing password changes. Please contact your administrator to reset your password.',
      },
    },
  });
  expect((await logIn(cloud, passwordOf('demo'))).status).toBe(201);
  expect((await setOptions({ lock_password: null })).body.user.options).toEqual({});
  expect((await change()).status).toBe(204);
});

it.each([
  [{ ignore_lockout: true }],
  [{ ignore_lockout_failure_attempts: 'true' }],
  [{ multi_factor_auth_rules: [[]] }],
  [{ multi_factor_auth_rules: [['password', 'password']] }],
])('rejects the user options %j', async (options) => {
  const cloud = await cloudUnderTest();
  const admin = clientOf(cloud, cloud.token('admin', 'admin', ['admin']));
  expect((await admin('POST', '/identity/v3/users', { user: { name: 'ada', options } })).status).toBe(400);
});
