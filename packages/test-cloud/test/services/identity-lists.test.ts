import { describe, expect, it } from 'vitest';
import { clientOf, cloudUnderTest } from '../clouds.js';

const names = (items: readonly { readonly name: string }[]) => items.map(({ name }) => name);

async function identity() {
  const cloud = await cloudUnderTest();
  const request = clientOf(cloud);
  const at = (path: string) => `/identity/v3/${path}`;
  const make = async (path: string, one: string, given: object) => {
    const { status, body } = await request('POST', at(path), { [one]: given });
    expect({ status, body }).toMatchObject({ status: 201 });
    return body[one];
  };
  return { cloud, request, at, make };
}

describe('lists of the identity service', () => {
  it.each([
    ['name__contains=dem', ['demo', 'alt_demo']],
    ['name__icontains=DEM', ['demo', 'alt_demo']],
    ['name__contains=DEM', []],
    ['name__startswith=alt', ['alt_demo']],
    ['name__endswith=demo', ['demo', 'alt_demo']],
    ['name__istartswith=ALT', ['alt_demo']],
    ['name=demo&enabled=true', ['demo']],
    ['name=demo&enabled=false', []],
    ['colour=red&name=demo', ['demo']],
  ])('find users by %s', async (query, expected) => {
    const { request, at } = await identity();
    const found = names((await request('GET', at(`users?${query}`))).body.users).filter((name) => name !== 'admin');
    expect(found.sort()).toEqual([...expected].sort());
  });

  it.each([
    ['tags=a', ['one', 'two']],
    ['tags=a,b', ['one']],
    ['tags-any=b,c', ['one', 'two']],
    ['not-tags=a,b', ['two', 'three']],
    ['not-tags-any=b', ['two', 'three']],
  ])('find projects by %s', async (query, expected) => {
    const { request, at, make } = await identity();
    const parent = await make('projects', 'project', { name: 'parent' });
    for (const [name, tags] of Object.entries({ one: ['a', 'b'], two: ['a', 'c'], three: [] }))
      await make('projects', 'project', { name, tags, parent_id: parent.id });
    expect(names((await request('GET', at(`projects?parent_id=${parent.id}&${query}`))).body.projects)).toEqual(
      expected,
    );
  });

  it('tag projects one by one and all at once', async () => {
    const { request, at, make } = await identity();
    const path = at(`projects/${(await make('projects', 'project', { name: 'p' })).id}/tags`);
    expect((await request('PUT', path, { tags: ['a', 'b'] })).body.tags).toEqual(['a', 'b']);
    expect((await request('PUT', `${path}/c`)).status).toBe(201);
    expect((await request('GET', `${path}/c`)).status).toBe(204);
    expect((await request('DELETE', `${path}/a`)).status).toBe(204);
    expect((await request('GET', `${path}/a`)).status).toBe(404);
    expect((await request('GET', path)).body.tags).toEqual(['b', 'c']);
  });
});

describe('role assignments', () => {
  it('are inherited from domains and parents, and through groups and roles', async () => {
    const { request, at, make } = await identity();
    const role = await make('roles', 'role', { name: 'auditor' });
    const other = await make('roles', 'role', { name: 'looker' });
    const user = await make('users', 'user', { name: 'ada', password: 'x' });
    const group = await make('groups', 'group', { name: 'crew' });
    const parent = await make('projects', 'project', { name: 'parent' });
    const child = await make('projects', 'project', { name: 'child', parent_id: parent.id });
    await request('PUT', at(`groups/${group.id}/users/${user.id}`));
    expect((await request('PUT', at(`roles/${role.id}/implies/${other.id}`))).status).toBe(201);
    const grant = at(`OS-INHERIT/projects/${parent.id}/groups/${group.id}/roles/${role.id}/inherited_to_projects`);
    expect((await request('PUT', grant)).status).toBe(204);
    expect((await request('HEAD', grant)).status).toBe(204);
    const list = async (query: string) => (await request('GET', at(`role_assignments?${query}`))).body.role_assignments;
    expect(await list(`user.id=${user.id}&scope.project.id=${child.id}`)).toEqual([]);
    const effective = await list(`user.id=${user.id}&scope.project.id=${child.id}&effective&include_names`);
    expect(effective.map((one: any) => one.role.name).sort()).toEqual(['auditor', 'looker']);
    expect(effective[0]).toMatchObject({
      user: { name: 'ada', domain: { name: 'Default' } },
      scope: { project: { name: 'child' }, 'OS-INHERIT:inherited_to': 'projects' },
    });
    expect(await list(`user.id=${user.id}&scope.project.id=${parent.id}&effective`)).toEqual([]);
    await request('PUT', at(`projects/${child.id}/users/${user.id}/roles/${role.id}`));
    const below = await list(`scope.project.id=${parent.id}&include_subtree=True&include_names=True`);
    expect(below.map((one: any) => one.scope.project.name).sort()).toEqual(['child', 'parent']);
    const ofDomain = await list(`scope.project.id=default&include_subtree=True&user.id=${user.id}`);
    expect(ofDomain.map((one: any) => one.scope.project.id)).toEqual([child.id]);
    const both = await request('GET', at(`role_assignments?scope.project.id=${child.id}&scope.domain.id=default`));
    expect(both.status).toBe(400);
  });
});

describe('additional resources of the identity service', () => {
  it.each([
    ['services', 'service', { type: 'dns', name: 'names' }, { enabled: false }],
    ['regions', 'region', { id: 'north', description: 'cold' }, { description: 'colder' }],
    ['policies', 'policy', { type: 'application/json', blob: '{}' }, { type: 'text/plain' }],
    ['credentials', 'credential', { type: 'totp', blob: 'x', user_id: 'ada' }, { blob: 'y' }],
  ])('are created, shown, found, changed and deleted: %s', async (path, one, given, change) => {
    const { request, at, make } = await identity();
    const created = await make(path, one, given);
    expect(created).toMatchObject(given);
    const each = at(`${path}/${created.id}`);
    expect((await request('GET', each)).body[one]).toEqual(created);
    expect((await request('PATCH', each, { [one]: change })).body[one]).toMatchObject(change);
    expect((await request('GET', at(path))).body[path].map(({ id }: any) => id)).toContain(created.id);
    expect((await request('DELETE', each)).status).toBe(204);
    expect((await request('GET', each)).status).toBe(404);
  });

  it('include new services in the catalog of the next token', async () => {
    const { cloud, request, at, make } = await identity();
    const service = await make('services', 'service', { type: 'dns', name: 'names' });
    const url = 'http://dns.test/v2/$(project_id)s';
    await make('endpoints', 'endpoint', { service_id: service.id, interface: 'public', url, region: 'north' });
    const catalog = (await clientOf(cloud, cloud.token('demo', 'demo'))('GET', at('auth/catalog'))).body.catalog;
    const project = (await request('GET', at('projects?name=demo'))).body.projects[0].id;
    const [endpoint] = catalog.find(({ type }: any) => type === 'dns').endpoints;
    expect(endpoint).toMatchObject({ region: 'north', url: `http://dns.test/v2/${project}` });
    const filtered = await request('GET', at(`endpoints?service_id=${service.id}&interface=admin`));
    expect(filtered.body.endpoints).toEqual([]);
  });

  it('store limits of projects below registered ones', async () => {
    const { request, at } = await identity();
    const service_id = (await request('GET', at('services?type=compute'))).body.services[0].id;
    const registered = { service_id, resource_name: 'cores', default_limit: 5, region_id: 'RegionOne' };
    const project_id = (await request('GET', at('projects?name=demo'))).body.projects[0].id;
    const early = { service_id, resource_name: 'cores', resource_limit: 9, region_id: 'RegionOne', project_id };
    expect((await request('POST', at('limits'), { limits: [early] })).status).toBe(403);
    const created = await request('POST', at('registered_limits'), { registered_limits: [registered] });
    expect(created).toMatchObject({ status: 201, body: { registered_limits: [registered] } });
    const limit = (await request('POST', at('limits'), { limits: [early] })).body.limits[0];
    const path = at(`registered_limits/${created.body.registered_limits[0].id}`);
    expect((await request('DELETE', path)).status).toBe(403);
    const changed = await request('PATCH', at(`limits/${limit.id}`), { limit: { resource_limit: 7 } });
    expect(changed.body.limit.resource_limit).toBe(7);
    expect((await request('DELETE', at(`limits/${limit.id}`))).status).toBe(204);
    expect((await request('DELETE', path)).status).toBe(204);
    expect((await request('GET', at('limits/model'))).body.model.name).toBe('flat');
  });

  it('include key pairs, and delegations with an expiry', async () => {
    const { cloud, request, at } = await identity();
    const ada = clientOf(cloud, cloud.token('ada', 'lab', ['member']));
    const [user, trustee, project, role] = [
      (await request('GET', at('users?name=ada'))).body.users[0].id,
      (await request('GET', at('users?name=demo'))).body.users[0].id,
      (await request('GET', at('projects?name=lab'))).body.projects[0].id,
      (await request('GET', at('roles?name=member'))).body.roles[0].id,
    ];
    const pair = await ada('POST', at(`users/${user}/credentials/OS-EC2`), { tenant_id: project });
    expect(pair).toMatchObject({ status: 201, body: { credential: { user_id: user, tenant_id: project } } });
    const { access } = pair.body.credential;
    expect((await ada('GET', at('credentials?type=ec2'))).body.credentials).toHaveLength(1);
    expect((await ada('DELETE', at(`users/${user}/credentials/OS-EC2/${access}`))).status).toBe(204);

    await request('PUT', at(`projects/${project}/users/${user}/roles/${role}`));
    const expected = { trustor_user_id: user, trustee_user_id: trustee, project_id: project, impersonation: true };
    const delegated = await ada('POST', at('OS-TRUST/trusts'), { trust: { ...expected, roles: [{ name: 'member' }] } });
    expect(delegated).toMatchObject({ status: 201, body: { trust: { ...expected, roles: [{ id: role }] } } });
    const trust = delegated.body.trust.id;
    expect((await ada('GET', at(`OS-TRUST/trusts/${trust}/roles/${role}`))).body.role.name).toBe('member');
    const password = { user: { name: 'demo', domain: { id: 'default' }, password: 'secret' } };
    const login = () =>
      clientOf(cloud, '')('POST', at('auth/tokens'), {
        auth: { identity: { methods: ['password'], password }, scope: { 'OS-TRUST:trust': { id: trust } } },
      });
    expect((await login()).body.token).toMatchObject({ user: { name: 'ada' }, project: { name: 'lab' } });
    expect((await ada('DELETE', at(`OS-TRUST/trusts/${trust}`))).status).toBe(204);
    expect((await login()).status).toBe(401);
  });

  it('include projects that act as domains, and trees of projects', async () => {
    const { request, at, make } = await identity();
    const acting = await make('projects', 'project', { name: 'realm', is_domain: true });
    expect((await request('GET', at(`domains/${acting.id}`))).body.domain.name).toBe('realm');
    const inside = await make('projects', 'project', { name: 'inside', domain_id: acting.id });
    const below = await make('projects', 'project', { name: 'below', parent_id: inside.id });
    expect(below.domain_id).toBe(acting.id);
    const tree = (await request('GET', at(`projects/${inside.id}?subtree_as_ids`))).body.project.subtree;
    expect(tree).toEqual({ [below.id]: null });
    expect((await request('DELETE', at(`projects/${inside.id}`))).status).toBe(403);
    expect((await request('DELETE', at(`projects/${acting.id}`))).status).toBe(403);
  });

  it('include access rules of application credentials', async () => {
    const { cloud, request, at } = await identity();
    const user = (await request('GET', at('users?name=admin'))).body.users[0].id;
    const rule = { path: '/v2.1/servers', method: 'GET', service: 'compute' };
    const path = at(`users/${user}/application_credentials`);
    const created = await request('POST', path, { application_credential: { name: 'ci', access_rules: [rule] } });
    expect(created.body.application_credential.access_rules).toMatchObject([rule]);
    const rules = at(`users/${user}/access_rules`);
    const [remaining] = (await request('GET', rules)).body.access_rules;
    expect((await request('DELETE', `${rules}/${remaining.id}`)).status).toBe(403);
    await request('DELETE', `${path}/${created.body.application_credential.id}`);
    expect((await request('DELETE', `${rules}/${remaining.id}`)).status).toBe(204);
    expect(cloud.unhandled()).toEqual([]);
  });
});
