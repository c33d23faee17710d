import { describe, expect, it } from 'vitest';
import { clientOf, cloudUnderTest } from '../clouds.js';

const names = (items: readonly { readonly name: string }[]) => items.map(({ name }) => name);

async function identity() {
  const cloud = await cloudUnderTest();
  const ask = clientOf(cloud);
  const at = (path: string) => `/identity/v3/${path}`;
  const make = async (path: string, one: string, given: object) => {
    const { status, body } = await ask('POST', at(path), { [one]: given });
    expect({ status, body }).toMatchObject({ status: 201 });
    return body[one];
  };
  return { cloud, ask, at, make };
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
  ])('find users of %s', async (query, expected) => {
    const { ask, at } = await identity();
    const found = names((await ask('GET', at(`users?${query}`))).body.users).filter((name) => name !== 'admin');
    expect(found.sort()).toEqual([...expected].sort());
  });

  it.each([
    ['tags=a', ['one', 'two']],
    ['tags=a,b', ['one']],
    ['tags-any=b,c', ['one', 'two']],
    ['not-tags=a,b', ['two', 'three']],
    ['not-tags-any=b', ['two', 'three']],
  ])('find projects by %s', async (query, expected) => {
    const { ask, at, make } = await identity();
    const parent = await make('projects', 'project', { name: 'parent' });
    for (const [name, tags] of Object.entries({ one: ['a', 'b'], two: ['a', 'c'], three: [] }))
      await make('projects', 'project', { name, tags, parent_id: parent.id });
    expect(names((await ask('GET', at(`projects?parent_id=${parent.id}&${query}`))).body.projects)).toEqual(expected);
  });

  it('let projects be tagged one by one and all at once', async () => {
    const { ask, at, make } = await identity();
    const path = at(`projects/${(await make('projects', 'project', { name: 'p' })).id}/tags`);
    expect((await ask('PUT', path, { tags: ['a', 'b'] })).body.tags).toEqual(['a', 'b']);
    expect((await ask('PUT', `${path}/c`)).status).toBe(201);
    expect((await ask('GET', `${path}/c`)).status).toBe(204);
    expect((await ask('DELETE', `${path}/a`)).status).toBe(204);
    expect((await ask('GET', `${path}/a`)).status).toBe(404);
    expect((await ask('GET', path)).body.tags).toEqual(['b', 'c']);
  });
});

describe('role assignments', () => {
  it('reach down from domains and parents, and through groups and roles', async () => {
    const { ask, at, make } = await identity();
    const role = await make('roles', 'role', { name: 'auditor' });
    const other = await make('roles', 'role', { name: 'looker' });
    const user = await make('users', 'user', { name: 'ada', password: 'x' });
    const group = await make('groups', 'group', { name: 'crew' });
    const parent = await make('projects', 'project', { name: 'parent' });
    const child = await make('projects', 'project', { name: 'child', parent_id: parent.id });
    await ask('PUT', at(`groups/${group.id}/users/${user.id}`));
    expect((await ask('PUT', at(`roles/${role.id}/implies/${other.id}`))).status).toBe(201);
    const grant = at(`OS-INHERIT/projects/${parent.id}/groups/${group.id}/roles/${role.id}/inherited_to_projects`);
    expect((await ask('PUT', grant)).status).toBe(204);
    expect((await ask('HEAD', grant)).status).toBe(204);
    const list = async (query: string) => (await ask('GET', at(`role_assignments?${query}`))).body.role_assignments;
    expect(await list(`user.id=${user.id}&scope.project.id=${child.id}`)).toEqual([]);
    const effective = await list(`user.id=${user.id}&scope.project.id=${child.id}&effective&include_names`);
    expect(effective.map((one: any) => one.role.name).sort()).toEqual(['auditor', 'looker']);
    expect(effective[0]).toMatchObject({
      user: { name: 'ada', domain: { name: 'Default' } },
      scope: { project: { name: 'child' }, 'OS-INHERIT:inherited_to': 'projects' },
    });
    expect(await list(`user.id=${user.id}&scope.project.id=${parent.id}&effective`)).toEqual([]);
    await ask('PUT', at(`projects/${child.id}/users/${user.id}/roles/${role.id}`));
    const below = await list(`scope.project.id=${parent.id}&include_subtree=True&include_names=True`);
    expect(below.map((one: any) => one.scope.project.name).sort()).toEqual(['child', 'parent']);
    const both = await ask('GET', at(`role_assignments?scope.project.id=${child.id}&scope.domain.id=default`));
    expect(both.status).toBe(400);
  });
});

describe('what the identity service has besides', () => {
  it.each([
    ['services', 'service', { type: 'dns', name: 'names' }, { enabled: false }],
    ['regions', 'region', { id: 'north', description: 'cold' }, { description: 'colder' }],
    ['policies', 'policy', { type: 'application/json', blob: '{}' }, { type: 'text/plain' }],
    ['credentials', 'credential', { type: 'totp', blob: 'x' }, { blob: 'y' }],
  ])('is made, shown, found, changed and removed: %s', async (path, one, given, change) => {
    const { ask, at, make } = await identity();
    const made = await make(path, one, given);
    expect(made).toMatchObject(given);
    const each = at(`${path}/${made.id}`);
    expect((await ask('GET', each)).body[one]).toEqual(made);
    expect((await ask('PATCH', each, { [one]: change })).body[one]).toMatchObject(change);
    expect((await ask('GET', at(path))).body[path].map(({ id }: any) => id)).toContain(made.id);
    expect((await ask('DELETE', each)).status).toBe(204);
    expect((await ask('GET', each)).status).toBe(404);
  });

  it('shows new services in the catalog of the next token', async () => {
    const { cloud, ask, at, make } = await identity();
    const service = await make('services', 'service', { type: 'dns', name: 'names' });
    const url = 'http://dns.test/v2/$(project_id)s';
    await make('endpoints', 'endpoint', { service_id: service.id, interface: 'public', url, region: 'north' });
    const catalog = (await clientOf(cloud, cloud.token('demo', 'demo'))('GET', at('auth/catalog'))).body.catalog;
    const project = (await ask('GET', at('projects?name=demo'))).body.projects[0].id;
    const [endpoint] = catalog.find(({ type }: any) => type === 'dns').endpoints;
    expect(endpoint).toMatchObject({ region: 'north', url: `http://dns.test/v2/${project}` });
    const filtered = await ask('GET', at(`endpoints?service_id=${service.id}&interface=admin`));
    expect(filtered.body.endpoints).toEqual([]);
  });

  it('keeps limits of projects below registered ones', async () => {
    const { ask, at } = await identity();
    const service_id = (await ask('GET', at('services?type=compute'))).body.services[0].id;
    const registered = { service_id, resource_name: 'cores', default_limit: 5, region_id: 'RegionOne' };
    const early = { service_id, resource_name: 'cores', resource_limit: 9, region_id: 'RegionOne', project_id: 'p' };
    expect((await ask('POST', at('limits'), { limits: [early] })).status).toBe(403);
    const made = await ask('POST', at('registered_limits'), { registered_limits: [registered] });
    expect(made).toMatchObject({ status: 201, body: { registered_limits: [registered] } });
    const limit = (await ask('POST', at('limits'), { limits: [early] })).body.limits[0];
    const path = at(`registered_limits/${made.body.registered_limits[0].id}`);
    expect((await ask('DELETE', path)).status).toBe(403);
    const changed = await ask('PATCH', at(`limits/${limit.id}`), { limit: { resource_limit: 7 } });
    expect(changed.body.limit.resource_limit).toBe(7);
    expect((await ask('DELETE', at(`limits/${limit.id}`))).status).toBe(204);
    expect((await ask('DELETE', path)).status).toBe(204);
    expect((await ask('GET', at('limits/model'))).body.model.name).toBe('flat');
  });

  it('gives key pairs, and lends rights to others for some time', async () => {
    const { cloud, ask, at } = await identity();
    const ada = clientOf(cloud, cloud.token('ada', 'lab', ['member']));
    const [user, trustee, project, role] = [
      (await ask('GET', at('users?name=ada'))).body.users[0].id,
      (await ask('GET', at('users?name=demo'))).body.users[0].id,
      (await ask('GET', at('projects?name=lab'))).body.projects[0].id,
      (await ask('GET', at('roles?name=member'))).body.roles[0].id,
    ];
    const pair = await ada('POST', at(`users/${user}/credentials/OS-EC2`), { tenant_id: project });
    expect(pair).toMatchObject({ status: 201, body: { credential: { user_id: user, tenant_id: project } } });
    const { access } = pair.body.credential;
    expect((await ada('GET', at('credentials?type=ec2'))).body.credentials).toHaveLength(1);
    expect((await ada('DELETE', at(`users/${user}/credentials/OS-EC2/${access}`))).status).toBe(204);

    await ask('PUT', at(`projects/${project}/users/${user}/roles/${role}`));
    const wanted = { trustor_user_id: user, trustee_user_id: trustee, project_id: project, impersonation: true };
    const lent = await ada('POST', at('OS-TRUST/trusts'), { trust: { ...wanted, roles: [{ name: 'member' }] } });
    expect(lent).toMatchObject({ status: 201, body: { trust: { ...wanted, roles: [{ id: role }] } } });
    const trust = lent.body.trust.id;
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

  it('makes projects that are domains, and trees of projects', async () => {
    const { ask, at, make } = await identity();
    const acting = await make('projects', 'project', { name: 'realm', is_domain: true });
    expect((await ask('GET', at(`domains/${acting.id}`))).body.domain.name).toBe('realm');
    const inside = await make('projects', 'project', { name: 'inside', domain_id: acting.id });
    const below = await make('projects', 'project', { name: 'below', parent_id: inside.id });
    expect(below.domain_id).toBe(acting.id);
    const tree = (await ask('GET', at(`projects/${inside.id}?subtree_as_ids`))).body.project.subtree;
    expect(tree).toEqual({ [below.id]: null });
    expect((await ask('DELETE', at(`projects/${inside.id}`))).status).toBe(403);
    expect((await ask('DELETE', at(`projects/${acting.id}`))).status).toBe(403);
  });

  it('keeps access rules of application credentials', async () => {
    const { cloud, ask, at } = await identity();
    const user = (await ask('GET', at('users?name=admin'))).body.users[0].id;
    const rule = { path: '/v2.1/servers', method: 'GET', service: 'compute' };
    const path = at(`users/${user}/application_credentials`);
    const made = await ask('POST', path, { application_credential: { name: 'ci', access_rules: [rule] } });
    expect(made.body.application_credential.access_rules).toMatchObject([rule]);
    const rules = at(`users/${user}/access_rules`);
    const [kept] = (await ask('GET', rules)).body.access_rules;
    expect((await ask('DELETE', `${rules}/${kept.id}`)).status).toBe(403);
    await ask('DELETE', `${path}/${made.body.application_credential.id}`);
    expect((await ask('DELETE', `${rules}/${kept.id}`)).status).toBe(204);
    expect(cloud.unserved()).toEqual([]);
  });
});
