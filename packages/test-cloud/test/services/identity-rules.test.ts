import { describe, expect, it } from 'vitest';
import { clientOf, cloudUnderTest } from '../clouds.js';

const at = (path: string) => `/identity/v3/${path}`;

async function identity() {
  const cloud = await cloudUnderTest();
  const request = clientOf(cloud);
  const make = async (path: string, one: string, given: object) => {
    const { status, body } = await request('POST', at(path), { [one]: given });
    expect({ status, body }).toMatchObject({ status: 201 });
    return body[one];
  };
  return { cloud, request, make };
}

describe('callers of the identity service', () => {
  it('query and revoke all of their own tokens, and no others', async () => {
    const { cloud } = await identity();
    const [own, other] = [cloud.token('demo', 'demo'), cloud.token('demo', 'demo')];
    const request = clientOf(cloud, own);
    const path = at('auth/tokens');
    expect((await request('GET', path, undefined, { 'X-Subject-Token': other })).status).toBe(200);
    expect((await request('DELETE', path, undefined, { 'X-Subject-Token': other })).status).toBe(204);
    expect((await request('HEAD', path, undefined, { 'X-Subject-Token': other })).status).toBe(404);
    const foreign = { 'X-Subject-Token': cloud.token('ada', 'lab') };
    expect((await request('GET', path, undefined, foreign)).status).toBe(403);
  });

  it.each(['users', 'projects', 'groups', 'domains', 'roles', 'services'])(
    'list %s only as administrators',
    async (path) => {
      const { cloud, request } = await identity();
      expect((await clientOf(cloud, cloud.token('demo', 'demo'))('GET', at(path))).status).toBe(403);
      expect((await request('GET', at(path))).status).toBe(200);
    },
  );

  it.each(['projects', 'domains'])('choose names of %s with at most 64 characters', async (path) => {
    const { request } = await identity();
    const create = (length: number) => request('POST', at(path), { [path.slice(0, -1)]: { name: 'n'.repeat(length) } });
    expect((await create(65)).status).toBe(400);
    expect((await create(64)).status).toBe(201);
  });

  it.each(['users', 'groups'])('create %s only in existing domains', async (path) => {
    const { request } = await identity();
    const given = { name: 'n', domain_id: 'nowhere' };
    expect((await request('POST', at(path), { [path.slice(0, -1)]: given })).status).toBe(404);
  });
});

describe('endpoints and services', () => {
  it('accept only booleans for `enabled`, and an endpoint that moves creates its region', async () => {
    const { request, make } = await identity();
    const service = await make('services', 'service', { type: 'dns' });
    expect((await request('POST', at('services'), { service: { type: 'dns', enabled: 'True' } })).status).toBe(400);
    const given = { service_id: service.id, interface: 'public', url: 'http://dns.test' };
    expect((await request('POST', at('endpoints'), { endpoint: { ...given, enabled: 'False' } })).status).toBe(400);
    const { id } = await make('endpoints', 'endpoint', given);
    const change = (endpoint: object) => request('PATCH', at(`endpoints/${id}`), { endpoint });
    expect((await change({ region: 'north' })).body.endpoint).toMatchObject({ region: 'north', region_id: 'north' });
    expect((await request('GET', at('regions/north'))).status).toBe(200);
    expect((await change({ region_id: 'south' })).status).toBe(400);
    expect((await change({ url: 'http://other.test' })).body.endpoint.region_id).toBe('north');
  });

  it('are assigned to projects in groups', async () => {
    const { request, make } = await identity();
    const project = (await request('GET', at('projects?name=demo'))).body.projects[0].id;
    const path = 'OS-EP-FILTER/endpoint_groups';
    expect(
      (await request('POST', at(path), { endpoint_group: { name: 'g', filters: { colour: 'red' } } })).status,
    ).toBe(400);
    const { id } = await make(path, 'endpoint_group', { name: 'g', filters: { interface: 'admin' } });
    const { endpoints } = (await request('GET', at(`${path}/${id}/endpoints`))).body;
    expect(new Set(endpoints.map((one: any) => one.interface))).toEqual(new Set(['admin']));
    const pair = at(`${path}/${id}/projects/${project}`);
    expect((await request('GET', pair)).status).toBe(404);
    expect((await request('PUT', pair)).status).toBe(204);
    expect((await request('GET', pair)).body.project_endpoint_group).toMatchObject({ project_id: project });
    expect((await request('GET', at(`${path}/${id}/projects`))).body.projects).toMatchObject([{ id: project }]);
    const groups = (await request('GET', at(`OS-EP-FILTER/projects/${project}/endpoint_groups`))).body.endpoint_groups;
    expect(groups).toMatchObject([{ id, name: 'g' }]);
    expect((await request('DELETE', at(`${path}/${id}`))).status).toBe(204);
    expect((await request('GET', pair)).status).toBe(404);
  });
});

describe('roles', () => {
  it('of domains imply global roles, but not the reverse, and are not in tokens', async () => {
    const { cloud, request, make } = await identity();
    const domain = await make('domains', 'domain', { name: 'd' });
    const local = await make('roles', 'role', { name: 'local', domain_id: domain.id });
    const wide = await make('roles', 'role', { name: 'wide' });
    const rule = at(`roles/${local.id}/implies/${wide.id}`);
    expect((await request('PUT', rule)).status).toBe(201);
    expect((await request('HEAD', rule)).status).toBe(204);
    expect((await request('PUT', at(`roles/${wide.id}/implies/${local.id}`))).status).toBe(403);
    const user = await make('users', 'user', { name: 'ada', password: 'x' });
    const demo = (await request('GET', at('projects?name=demo'))).body.projects[0].id;
    const rejected = await request('PUT', at(`projects/${demo}/users/${user.id}/roles/${local.id}`));
    const message = `Project ${demo} must be in the same domain as the role ${local.id} being assigned.`;
    expect(rejected).toMatchObject({ status: 403, body: { error: { message } } });
    const project = await make('projects', 'project', { name: 'p', domain_id: domain.id });
    await request('PUT', at(`projects/${project.id}/users/${user.id}/roles/${local.id}`));
    const assignments = await request('GET', at(`role_assignments?user.id=${user.id}&effective&include_names`));
    expect(assignments.body.role_assignments.map(({ role }: any) => role.name)).toEqual(['wide']);
    expect(cloud.unhandled()).toEqual([]);
  });
});

describe('lists below other resources', () => {
  it('link to their items', async () => {
    const { request, make } = await identity();
    const user = await make('users', 'user', { name: 'ada', password: 'x' });
    const group = await make('groups', 'group', { name: 'crew' });
    await request('PUT', at(`groups/${group.id}/users/${user.id}`));
    expect((await request('GET', at(`groups/${group.id}/users`))).body.users).toEqual([user]);
    expect((await request('GET', at(`users/${user.id}/groups`))).body.groups).toEqual([
      { ...group, membership_expires_at: null },
    ]);
  });
});

describe('a delegation between users', () => {
  async function trusting() {
    const { cloud } = await identity();
    const owner = clientOf(cloud, cloud.token('demo', 'demo'));
    const ids = (await owner('GET', at('auth/tokens'), undefined, { 'X-Subject-Token': cloud.token('demo', 'demo') }))
      .body.token;
    const admin = clientOf(cloud);
    const trustee = (await admin('GET', at('users?name=alt_demo'))).body.users[0].id;
    const create = (more: object) =>
      owner('POST', at('OS-TRUST/trusts'), {
        trust: {
          trustor_user_id: ids.user.id,
          trustee_user_id: trustee,
          project_id: ids.project.id,
          impersonation: true,
          roles: [{ name: 'member' }],
          ...more,
        },
      });
    return { owner, create };
  }

  it('shows its roles with links, and not in lists', async () => {
    const { owner, create } = await trusting();
    const { trust } = (await create({ expires_at: '2099-01-31T12:00:00Z' })).body;
    expect(trust.expires_at).toBe('2099-01-31T12:00:00.000000Z');
    const link = expect.stringContaining(`/v3/roles/${trust.roles[0].id}`);
    expect(trust.roles).toMatchObject([{ name: 'member', links: { self: link } }]);
    const path = at(`OS-TRUST/trusts/${trust.id}`);
    expect((await owner('GET', `${path}/roles`)).body.roles).toMatchObject([{ links: { self: link } }]);
    expect((await owner('GET', at('OS-TRUST/trusts'))).status).toBe(403);
    const [listed] = (await owner('GET', at(`OS-TRUST/trusts?trustor_user_id=${trust.trustor_user_id}`))).body.trusts;
    expect(listed).not.toHaveProperty('roles');
    expect((await owner('DELETE', path)).status).toBe(204);
    expect((await owner('GET', path)).status).toBe(404);
  });

  it.each([[{ expires_at: 'bad.123Z' }], [{ expires_at: '2001-01-31T12:00:00Z' }], [{ impersonation: 'True' }]])(
    'rejects %j',
    async (more) => {
      const { create } = await trusting();
      expect((await create(more)).status).toBe(400);
    },
  );

  it('stores the microseconds of application credentials', async () => {
    const { cloud } = await identity();
    const owner = clientOf(cloud, cloud.token('demo', 'demo'));
    const { user } = (await clientOf(cloud)('GET', at('users?name=demo'))).body.users.map((one: any) => ({
      user: one,
    }))[0];
    const expires_at = '2099-01-31T12:34:56.528206';
    const path = at(`users/${user.id}/application_credentials`);
    const created = await owner('POST', path, { application_credential: { name: 'c', expires_at } });
    expect(created.body.application_credential.expires_at).toBe(expires_at);
    const bad = await owner('POST', path, { application_credential: { name: 'd', expires_at: 'soon' } });
    expect(bad.status).toBe(400);
  });
});

describe('the configuration of domains', () => {
  const config = { identity: { driver: 'ldap' }, ldap: { url: 'ldap://ldap.test', password: 'hidden' } };

  it('is created, shown in parts, changed and removed', async () => {
    const { request, make } = await identity();
    const path = at(`domains/${(await make('domains', 'domain', { name: 'd' })).id}/config`);
    expect((await request('GET', path)).status).toBe(404);
    const shown = { identity: { driver: 'ldap' }, ldap: { url: 'ldap://ldap.test' } };
    expect(await request('PUT', path, { config })).toMatchObject({ status: 201, body: { config: shown } });
    expect((await request('GET', path)).body).toEqual({ config: shown });
    expect((await request('GET', `${path}/ldap`)).body).toEqual({ config: { ldap: shown.ldap } });
    expect((await request('GET', `${path}/ldap/url`)).body).toEqual({ config: { url: 'ldap://ldap.test' } });
    expect((await request('GET', `${path}/ldap/password`)).status).toBe(404);
    const changed = await request('PATCH', `${path}/identity/driver`, { config: { driver: 'sql' } });
    expect(changed.body).toEqual({ config: { identity: { driver: 'sql' } } });
    expect((await request('PATCH', `${path}/identity`, { config: { ldap: { url: 'x' } } })).status).toBe(403);
    expect((await request('DELETE', `${path}/identity/driver`)).status).toBe(204);
    expect((await request('GET', `${path}/identity`)).status).toBe(404);
    expect((await request('DELETE', path)).status).toBe(204);
    expect((await request('GET', path)).status).toBe(404);
  });

  it('has defaults, and rejects unknown options', async () => {
    const { cloud, request, make } = await identity();
    expect((await request('GET', at('domains/config/default'))).body.config).toHaveProperty('ldap.url');
    expect((await request('GET', at('domains/config/identity/driver/default'))).body).toEqual({
      config: { driver: 'sql' },
    });
    const path = at(`domains/${(await make('domains', 'domain', { name: 'd' })).id}/config`);
    expect((await request('PUT', path, { config: { colours: { red: 1 } } })).status).toBe(403);
    expect((await request('PUT', path, { config: { ldap: { colour: 1 } } })).status).toBe(403);
    expect((await clientOf(cloud, cloud.token('demo', 'demo'))('PUT', path, { config })).status).toBe(403);
  });
});

it('consumers keep their secret', async () => {
  const { request, make } = await identity();
  const created = await make('OS-OAUTH1/consumers', 'consumer', { description: 'a program' });
  expect(created.secret).toMatch(/^\w{32}$/);
  const path = at(`OS-OAUTH1/consumers/${created.id}`);
  const { secret: _, ...shown } = created;
  expect((await request('GET', path)).body.consumer).toEqual(shown);
  expect((await request('GET', at('OS-OAUTH1/consumers'))).body.consumers).toEqual([shown]);
  expect((await request('PATCH', path, { consumer: { description: 'b' } })).body.consumer.description).toBe('b');
  expect((await request('DELETE', path)).status).toBe(204);
});
