import { describe, expect, it } from 'vitest';
import { clientOf, cloudUnderTest, serverBody } from '../clouds.js';
import { at, cloudWithUser, demo, forbiddenTo, logIn, passwordOf } from './delegation-cloud.js';

/** A cloud with a token of an application credential of `demo`. */
async function cloudWithCredential(more: object = {}) {
  const owner = await cloudWithUser();
  const path = at(`users/${owner.user.id}/application_credentials`);
  const created = await owner.request('POST', path, { application_credential: { name: 'ci', ...more } });
  expect(created).toMatchObject({ status: 201 });
  const { id, secret } = created.body.application_credential;
  const identity = { methods: ['application_credential'], application_credential: { id, secret } };
  const login = await logIn(owner.cloud, identity);
  expect(login).toMatchObject({ status: 201 });
  return {
    ...owner,
    owner,
    path,
    id,
    identity,
    login,
    token: login.token,
    request: clientOf(owner.cloud, login.token),
  };
}

describe('tokens', () => {
  it('have the current roles of their user', async () => {
    const { cloud, admin, request, user, project, token } = await cloudWithUser();
    const show = () => request('GET', at('auth/tokens'), undefined, { 'X-Subject-Token': token });
    const names = async () => (await show()).body.token.roles.map(({ name }: { name: string }) => name).sort();
    expect(await names()).toEqual(['member', 'reader']);
    const roleId = async (name: string) => (await admin('GET', at(`roles?name=${name}`))).body.roles[0].id;
    const path = at(`projects/${project.id}/users/${user.id}/roles`);
    expect((await admin('PUT', `${path}/${await roleId('admin')}`)).status).toBe(204);
    expect(await names()).toContain('admin');
    for (const name of ['admin', 'member', 'reader']) await admin('DELETE', `${path}/${await roleId(name)}`);
    expect((await show()).status).toBe(401);
    expect((await clientOf(cloud, token)('GET', '/compute/v2.1/servers')).status).toBe(401);
  });

  it('end when their user, project or domain is disabled, and stay invalid when it is enabled again', async () => {
    const { cloud } = await cloudWithUser();
    const admin = clientOf(cloud, cloud.token('admin', 'admin'));
    const make = async (many: string, one: string, fields: object) =>
      (await admin('POST', at(many), { [one]: { name: 'lab', ...fields } })).body[one];
    const domain = await make('domains', 'domain', {});
    const user = await make('users', 'user', { name: 'ada', password: 'secret', domain_id: domain.id });
    const project = await make('projects', 'project', { domain_id: domain.id });
    const role = (await admin('GET', at('roles?name=member'))).body.roles[0];
    await admin('PUT', at(`projects/${project.id}/users/${user.id}/roles/${role.id}`));
    const identity = { methods: ['password'], password: { user: { id: user.id, password: 'secret' } } };
    const scope = { project: { id: project.id } };
    for (const [many, one, { id }] of [
      ['projects', 'project', project],
      ['users', 'user', user],
      ['domains', 'domain', domain],
    ]) {
      const { token } = await logIn(cloud, identity, scope);
      const list = async () => (await clientOf(cloud, token)('GET', '/network/v2.0/networks')).status;
      expect(await list()).toBe(200);
      await admin('PATCH', at(`${many}/${id}`), { [one]: { enabled: false } });
      expect(await list()).toBe(401);
      expect((await logIn(cloud, identity, scope)).status).toBe(401);
      await admin('PATCH', at(`${many}/${id}`), { [one]: { enabled: true } });
      expect(await list()).toBe(401);
    }
  });
});

describe('a token of an application credential', () => {
  it('ends with its credential', async () => {
    const { owner, request, path, id } = await cloudWithCredential();
    expect((await request('GET', '/compute/v2.1/servers')).status).toBe(200);
    await owner.request('DELETE', `${path}/${id}`);
    expect((await request('GET', '/compute/v2.1/servers')).status).toBe(401);
  });

  it('expires with its credential', async () => {
    const { login } = await cloudWithCredential({ expires_at: new Date(Date.now() + 60_000).toISOString() });
    const { expires_at, issued_at } = login.body.token;
    expect(Date.parse(expires_at) - Date.parse(issued_at)).toBeLessThanOrEqual(60_000);
  });

  it('has no role that its owner has lost', async () => {
    const { admin, request, user, project, token } = await cloudWithCredential();
    const roles = async () =>
      (await request('GET', at('auth/tokens'), undefined, { 'X-Subject-Token': token })).body.token.roles;
    expect(await roles()).toMatchObject([{ name: 'member' }, { name: 'reader' }]);
    const role = (await admin('GET', at('roles?name=member'))).body.roles[0].id;
    await admin('DELETE', at(`projects/${project.id}/users/${user.id}/roles/${role}`));
    expect(await roles()).toMatchObject([{ name: 'reader' }]);
  });

  it('ends when a role of its owner on the project is deleted', async () => {
    const { cloud, owner, path, id, user, project } = await cloudWithCredential();
    const admin = clientOf(cloud);
    const create = async (name: string) => (await admin('POST', at('roles'), { role: { name } })).body.role.id;
    const [assigned, other] = [await create('auditor'), await create('tester')];
    await admin('PUT', at(`projects/${project.id}/users/${user.id}/roles/${assigned}`));
    const shown = async () => (await owner.request('GET', `${path}/${id}`)).status;
    expect((await admin('DELETE', at(`roles/${other}`))).status).toBe(204);
    expect(await shown()).toBe(200);
    expect((await admin('DELETE', at(`roles/${assigned}`))).status).toBe(204);
    expect(await shown()).toBe(404);
  });

  it('can be renewed, and not be exchanged for a token of another scope', async () => {
    const { cloud, token } = await cloudWithCredential();
    const identity = { methods: ['token'], token: { id: token } };
    const renewed = await logIn(cloud, identity);
    expect(renewed.body.token).toMatchObject({ application_credential: { name: 'ci' }, project: { name: 'demo' } });
    expect(await logIn(cloud, identity, demo)).toMatchObject(
      forbiddenTo('Using an application credential token to create a scoped token is not allowed.'),
    );
  });

  it.each([
    ['POST', 'users/USER/application_credentials', { application_credential: { name: 'more' } }],
    ['DELETE', 'users/USER/application_credentials/ID', undefined],
    ['POST', 'users/USER/credentials/OS-EC2', { tenant_id: 'PROJECT' }],
  ])('cannot %s %s', async (method, path, body) => {
    const { request, user, id, project } = await cloudWithCredential();
    const url = at(path.replace('USER', user.id).replace('ID', id));
    const content = body && JSON.parse(JSON.stringify(body).replace('PROJECT', project.id));
    expect(await request(method, url, content)).toMatchObject(
      forbiddenTo(
        "Using method 'application_credential' is not allowed for managing additional application credentials.",
      ),
    );
    const unrestricted = await cloudWithCredential({ unrestricted: true });
    const allowed = at(path.replace('USER', unrestricted.user.id).replace('ID', unrestricted.id));
    expect((await unrestricted.request(method, allowed, content)).status).toBeLessThan(300);
  });

  it('cannot use trusts, even if it is unrestricted', async () => {
    const { request, owner, admin, user, project } = await cloudWithCredential({ unrestricted: true });
    const trustee = (await admin('GET', at('users?name=alt_demo'))).body.users[0].id;
    const trust = {
      trustor_user_id: user.id,
      trustee_user_id: trustee,
      project_id: project.id,
      impersonation: true,
      roles: [{ name: 'member' }],
    };
    const rejected = forbiddenTo("Using method 'application_credential' is not allowed for managing trusts.");
    expect(await request('POST', at('OS-TRUST/trusts'), { trust })).toMatchObject(rejected);
    const { id } = (await owner.request('POST', at('OS-TRUST/trusts'), { trust })).body.trust;
    expect(await request('DELETE', at(`OS-TRUST/trusts/${id}`))).toMatchObject(rejected);
    expect(await request('GET', at(`OS-TRUST/trusts?trustor_user_id=${user.id}`))).toMatchObject(rejected);
    expect(await request('GET', at(`OS-TRUST/trusts/${id}`))).toMatchObject(rejected);
  });

  it('has no access to secrets of other projects', async () => {
    const { request, owner, user } = await cloudWithCredential({ unrestricted: true });
    const secret = { type: 'totp', blob: 'secret', user_id: user.id };
    const { id } = (await owner.request('POST', at('credentials'), { credential: secret })).body.credential;
    expect((await request('GET', at('credentials'))).body.credentials).toEqual([]);
    const rejected = forbiddenTo('Credential project does not match the project scope of the delegated token');
    expect(await request('GET', at(`credentials/${id}`))).toMatchObject(rejected);
    expect(await request('DELETE', at(`credentials/${id}`))).toMatchObject(rejected);
    expect(await request('POST', at('credentials'), { credential: secret })).toMatchObject(rejected);
  });
});

describe('access rules of an application credential', () => {
  const rules = [
    { service: 'compute', method: 'GET', path: '/v2.1/servers' },
    { service: 'network', method: 'GET', path: '/v2.0/networks/{id}' },
    { service: 'block-storage', method: 'GET', path: '/v3/**' },
  ];

  it('are enforced by every service', async () => {
    const { request, project, user } = await cloudWithCredential({ access_rules: rules });
    const status = async (method: string, path: string, body?: object) => (await request(method, path, body)).status;
    expect(await status('GET', '/compute/v2.1/servers')).toBe(200);
    expect(await status('GET', '/compute/v2.1/servers?limit=1')).toBe(200);
    expect(await status('GET', '/compute/v2.1/servers/detail')).toBe(401);
    expect(await status('POST', '/compute/v2.1/servers', serverBody())).toBe(401);
    expect(await status('GET', '/compute/v2.1/flavors')).toBe(401);
    expect(await status('GET', '/network/v2.0/networks')).toBe(401);
    expect(await status('GET', '/network/v2.0/networks/none')).toBe(404);
    expect(await status('GET', `/volume/v3/${project.id}/volumes`)).toBe(200);
    expect(await status('GET', '/image/v2/images')).toBe(401);
    expect(await status('GET', '/placement/resource_providers')).toBe(401);
    expect(await status('GET', at(`users/${user.id}`))).toBe(401);
  });

  it('are in the token, which is valid only for services that enforce them', async () => {
    const { login, admin, token } = await cloudWithCredential({ access_rules: rules });
    expect(login.body.token.application_credential.access_rules).toMatchObject(rules);
    const subject = { 'X-Subject-Token': token };
    for (const method of ['GET', 'HEAD'])
      expect((await admin(method, at('auth/tokens'), undefined, subject)).status).toBe(404);
    const validated = await admin('GET', at('auth/tokens'), undefined, {
      ...subject,
      'OpenStack-Identity-Access-Rules': '1',
    });
    expect(validated.body.token.application_credential.access_rules).toMatchObject(rules);
  });

  it('do not apply to requests that a service forwards', async () => {
    const rule = { path: '/v2.1/servers', method: 'GET', service: 'compute' };
    const { cloud, token } = await cloudWithCredential({ access_rules: [rule] });
    const list = (headers: Record<string, string>) =>
      clientOf(cloud, token)('GET', '/image/v2/images', undefined, headers);
    expect((await list({})).status).toBe(401);
    expect((await list({ 'X-Service-Token': cloud.token('nova', 'service', ['member']) })).status).toBe(401);
    expect((await list({ 'X-Service-Token': cloud.token('nova', 'service', ['service']) })).status).toBe(200);
  });

  it.each([
    ['a method that no API has', { method: 'FETCH' }],
    ['a relative path', { path: 'servers' }],
    ['a long path', { path: `/${'*'.repeat(225)}` }],
  ])('are rejected with %s', async (_, more) => {
    const { request, user } = await cloudWithUser();
    const rule = { service: 'compute', method: 'GET', path: '/v2.1/servers', ...more };
    const body = { application_credential: { name: 'ci', access_rules: [rule] } };
    expect((await request('POST', at(`users/${user.id}/application_credentials`), body)).status).toBe(400);
  });
});

it('a token of the system is not exchanged for one of a project', async () => {
  const cloud = await cloudUnderTest();
  const { token } = await logIn(cloud, passwordOf('admin'), { system: { all: true } });
  expect(await logIn(cloud, { methods: ['token'], token: { id: token } }, demo)).toMatchObject(
    forbiddenTo('Using a system-scoped token to create a project-scoped or domain-scoped token is not allowed.'),
  );
});
