import { describe, expect, it } from 'vitest';
import { clientOf } from '../clouds.js';
import { at, cloudWithUser, demo, forbiddenTo, logIn, passwordOf } from './delegation-cloud.js';

/** A cloud with a token of `alt_demo` that acts for `demo` through a trust. */
async function cloudWithTrust(more: object = {}) {
  const owner = await cloudWithUser();
  const trustee = (await owner.admin('GET', at('users?name=alt_demo'))).body.users[0].id;
  const trust = {
    trustor_user_id: owner.user.id,
    trustee_user_id: trustee,
    project_id: owner.project.id,
    impersonation: true,
    roles: [{ name: 'member' }],
    ...more,
  };
  const created = await owner.request('POST', at('OS-TRUST/trusts'), { trust });
  expect(created).toMatchObject({ status: 201 });
  const { id } = created.body.trust;
  const login = await logIn(owner.cloud, passwordOf('alt_demo'), { 'OS-TRUST:trust': { id } });
  expect(login).toMatchObject({ status: 201 });
  return { ...owner, owner, trust, id, login, token: login.token, request: clientOf(owner.cloud, login.token) };
}

describe('a token of a trust', () => {
  it('acts for the trustor until the trust is deleted', async () => {
    const { owner, request, id, login, user } = await cloudWithTrust();
    expect(login.body.token).toMatchObject({ user: { id: user.id }, 'OS-TRUST:trust': { id } });
    expect((await request('GET', '/compute/v2.1/servers')).status).toBe(200);
    await owner.request('DELETE', at(`OS-TRUST/trusts/${id}`));
    expect((await request('GET', '/compute/v2.1/servers')).status).toBe(401);
  });

  it('expires with the trust', async () => {
    const { login } = await cloudWithTrust({ expires_at: new Date(Date.now() + 60_000).toISOString() });
    const { expires_at, issued_at } = login.body.token;
    expect(Date.parse(expires_at) - Date.parse(issued_at)).toBeLessThanOrEqual(60_000);
  });

  it('ends when the trustor loses a delegated role', async () => {
    const { cloud, admin, request, user, project, id } = await cloudWithTrust();
    const role = (await admin('GET', at('roles?name=member'))).body.roles[0].id;
    await admin('DELETE', at(`projects/${project.id}/users/${user.id}/roles/${role}`));
    expect((await request('GET', '/compute/v2.1/servers')).status).toBe(401);
    expect(await logIn(cloud, passwordOf('alt_demo'), { 'OS-TRUST:trust': { id } })).toMatchObject({
      status: 403,
      body: { error: { message: 'Trustee has no delegated roles.' } },
    });
  });

  it('cannot be exchanged for a token of the trustor', async () => {
    const { cloud, token } = await cloudWithTrust();
    const rejected = forbiddenTo(
      'Using trust-scoped token to create another token. Create a new trust-scoped token instead',
    );
    const identity = { methods: ['token'], token: { id: token } };
    for (const scope of [undefined, 'unscoped', demo])
      expect(await logIn(cloud, identity, scope)).toMatchObject(rejected);
  });

  it('cannot manage application credentials', async () => {
    const { request, user } = await cloudWithTrust();
    const path = at(`users/${user.id}/application_credentials`);
    const rejected = {
      status: 403,
      body: { error: { message: 'Cannot manage application credentials with a token issued via delegation.' } },
    };
    expect(await request('GET', path)).toMatchObject(rejected);
    expect(await request('POST', path, { application_credential: { name: 'x' } })).toMatchObject(rejected);
    expect(await request('GET', at(`users/${user.id}/access_rules`))).toMatchObject(rejected);
  });

  it('delegates further only as far as the trust allows', async () => {
    const plain = await cloudWithTrust();
    const more = (from: typeof plain, change: object = {}) =>
      from.request('POST', at('OS-TRUST/trusts'), { trust: { ...from.trust, redelegation_count: null, ...change } });
    expect(await more(plain)).toMatchObject({
      status: 403,
      body: { error: { message: 'Remaining redelegation depth of 0 out of allowed range of [0..3]' } },
    });
    const chain = await cloudWithTrust({ allow_redelegation: true, redelegation_count: 2 });
    const next = await more(chain, { allow_redelegation: true });
    expect(next).toMatchObject({
      status: 201,
      body: { trust: { redelegated_trust_id: chain.id, redelegation_count: 1 } },
    });
    expect((await more(chain, { roles: [{ name: 'reader' }] })).body.error.message).toBe(
      'Some of requested roles are not in redelegated trust',
    );
    const acting = await cloudWithTrust({ impersonation: false, allow_redelegation: true });
    expect((await more(acting, { trustor_user_id: acting.trust.trustee_user_id })).status).toBeGreaterThanOrEqual(400);
  });
});
