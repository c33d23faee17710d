import { describe, expect, it, onTestFinished } from 'vitest';
import { clientOf } from '../clouds.js';
import { at, policyCloud, unique } from '../contract/policy-cloud.js';
import { forbiddenTo } from './delegation-cloud.js';

async function cloudWithDomains() {
  const cloud = await policyCloud();
  onTestFinished(() => cloud.cloud.stop());
  const { 'domain manager': manager, 'domain reader': reader, 'domain admin': domainAdmin } = cloud.callers;
  if (!manager || !reader || !domainAdmin) throw new Error('a caller is missing');
  const otherUser = await cloud.makeUser(cloud.otherDomain);
  const otherDomainProject = await cloud.make('projects', 'project', {
    name: unique('project'),
    domain_id: cloud.otherDomain,
  });
  return { ...cloud, manager, reader, domainAdmin, otherUser, otherDomainProject };
}

const denied = (action: string) => forbiddenTo(`identity:${action}`);

describe('a domain manager', () => {
  it.each(['user', 'group', 'project'])('creates, changes and deletes a %s only in its own domain', async (one) => {
    const { manager, admin, domain, otherDomain } = await cloudWithDomains();
    const path = at(`/v3/${one}s`);
    const create = (domain_id?: string) => manager('POST', path, { [one]: { name: unique(one), domain_id } });
    const { status, body } = await create(domain);
    expect(status).toBe(201);
    const own = `${path}/${body[one].id}`;
    expect((await manager('PATCH', own, { [one]: { description: 'changed' } })).status).toBe(200);
    expect(await manager('PATCH', own, { [one]: { domain_id: otherDomain } })).toMatchObject({
      status: 400,
      body: { error: { message: 'Cannot change Domain ID' } },
    });
    expect((await manager('DELETE', own)).status).toBe(204);
    expect(await create(otherDomain)).toMatchObject(denied(`create_${one}`));
    expect(await create('default')).toMatchObject(denied(`create_${one}`));
    expect(await create()).toMatchObject(denied(`create_${one}`));
    const foreign = await admin('POST', path, { [one]: { name: unique(one), domain_id: otherDomain } });
    const other = `${path}/${foreign.body[one].id}`;
    expect(await manager('PATCH', other, { [one]: { name: 'x' } })).toMatchObject(denied(`update_${one}`));
    expect(await manager('DELETE', other)).toMatchObject(denied(`delete_${one}`));
    expect(await manager('GET', other)).toMatchObject(denied(`get_${one}`));
    expect(await manager('PATCH', `${path}/missing`, { [one]: { name: 'x' } })).toMatchObject(denied(`update_${one}`));
  });

  it.each([
    ['reader', 204],
    ['member', 204],
    ['manager', 204],
    ['admin', 403],
    ['service', 403],
  ])('grants and revokes the role %s: %i', async (role, status) => {
    const { manager, admin, domain, owner, project, roleIds } = await cloudWithDomains();
    for (const scope of [`projects/${project}`, `domains/${domain}`]) {
      const direct = at(`/v3/${scope}/users/${owner}/roles/${roleIds[role]}`);
      const inherited = at(`/v3/OS-INHERIT/${scope}/users/${owner}/roles/${roleIds[role]}/inherited_to_projects`);
      for (const path of [direct, inherited]) {
        expect([path, (await manager('PUT', path)).status]).toEqual([path, status]);
        await admin('PUT', path);
        expect([path, (await manager('DELETE', path)).status]).toEqual([path, status]);
      }
    }
  });

  it('grants roles only to users and groups of its own domain, and only on this domain and its projects', async () => {
    const cloud = await cloudWithDomains();
    const { manager, make, domain, otherDomain, owner, project, otherDomainProject, otherUser, roleIds } = cloud;
    const group = await make('groups', 'group', { name: unique('group'), domain_id: otherDomain });
    for (const [scope, actor] of [
      [`projects/${project}`, `users/${otherUser}`],
      [`projects/${project}`, `groups/${group}`],
      [`domains/${domain}`, `users/${otherUser}`],
      [`domains/${otherDomain}`, `users/${owner}`],
      [`projects/${otherDomainProject}`, `users/${owner}`],
      [`domains/default`, `users/${owner}`],
    ])
      expect(await manager('PUT', at(`/v3/${scope}/${actor}/roles/${roleIds.reader}`))).toMatchObject(
        denied('create_grant'),
      );
    expect(await manager('PUT', at(`/v3/system/users/${owner}/roles/${roleIds.reader}`))).toMatchObject(
      denied('create_system_grant_for_user'),
    );
  });

  it('changes the members of a group only if the group and the user belong to its own domain', async () => {
    const { manager, make, domain, otherDomain, owner, otherUser } = await cloudWithDomains();
    const makeGroup = (domain_id: string) => make('groups', 'group', { name: unique('group'), domain_id });
    const [group, otherGroup] = [await makeGroup(domain), await makeGroup(otherDomain)];
    const add = (groupId: string, user: string) => manager('PUT', at(`/v3/groups/${groupId}/users/${user}`));
    expect((await add(group, owner)).status).toBe(204);
    for (const [groupId, user] of [
      [group, otherUser],
      [otherGroup, owner],
      [group, 'missing'],
      ['missing', owner],
    ] as const)
      expect(await add(groupId, user)).toMatchObject(denied('add_user_to_group'));
  });

  it('cannot create a project below a project or domain other than its own', async () => {
    const { manager, domain, otherDomain, otherDomainProject } = await cloudWithDomains();
    const create = (parent_id: string, more: object = {}) =>
      manager('POST', at('/v3/projects'), {
        project: { name: unique('project'), domain_id: domain, parent_id, ...more },
      });
    expect((await create(otherDomainProject)).status).toBe(400);
    expect((await create(otherDomain)).status).toBe(400);
    expect((await create(domain)).status).toBe(201);
    expect((await create(domain, { is_domain: true })).status).toBe(400);
    expect(await create(domain, { is_domain: true, domain_id: null })).toMatchObject(denied('create_project'));
  });

  it('may have a role that implies the role manager', async () => {
    const { make, send, makeUser, logIn, domain, roleIds, cloud } = await cloudWithDomains();
    const operator = await make('roles', 'role', { name: 'operator' });
    await send('PUT', `/v3/roles/${operator}/implies/${roleIds.manager}`);
    const token = await logIn(await makeUser(), operator, ['domain', domain]);
    const user = { name: unique('user'), domain_id: domain };
    expect((await clientOf(cloud, token)('POST', at('/v3/users'), { user })).status).toBe(201);
  });
});

describe('a domain administrator', () => {
  it('creates users in the domain of the token unless the request names another domain', async () => {
    const { cloud, makeUser, logIn, roleIds, domain, otherDomain } = await cloudWithDomains();
    const request = clientOf(cloud, await logIn(await makeUser(otherDomain), roleIds.admin, ['domain', domain]));
    const create = async (fields: object) =>
      (await request('POST', at('/v3/users'), { user: { name: unique('user'), ...fields } })).body.user.domain_id;
    expect(await create({})).toBe(domain);
    expect(await create({ domain_id: otherDomain })).toBe(otherDomain);
  });

  it('may not change the catalog, domains, roles and grants on the system', async () => {
    const { domainAdmin, domain, owner, roleIds } = await cloudWithDomains();
    for (const [method, path, body, action] of [
      ['POST', 'services', { service: { type: 'x' } }, 'create_service'],
      ['GET', 'endpoints', undefined, 'list_endpoints'],
      ['PATCH', `domains/${domain}`, { domain: { name: 'x' } }, 'update_domain'],
      ['PATCH', `roles/${roleIds.reader}`, { role: { name: 'x' } }, 'update_role'],
      ['PUT', `system/users/${owner}/roles/${roleIds.admin}`, undefined, 'create_system_grant_for_user'],
    ] as const)
      expect(await domainAdmin(method, at(`/v3/${path}`), body)).toMatchObject(denied(action));
  });
});

describe('a domain reader', () => {
  it('sees only the members, groups and role assignments of its own domain', async () => {
    const { reader, make, send, domain, otherDomain, owner, otherUser, roleIds } = await cloudWithDomains();
    const makeGroup = (domain_id: string) => make('groups', 'group', { name: unique('group'), domain_id });
    const [group, otherGroup] = [await makeGroup(domain), await makeGroup(otherDomain)];
    for (const [groupId, user] of [
      [group, owner],
      [group, otherUser],
      [otherGroup, owner],
    ])
      await send('PUT', `/v3/groups/${groupId}/users/${user}`);
    const idsOf = async (path: string, many: string) =>
      (await reader('GET', at(path))).body[many].map(({ id }: any) => id);
    expect(await idsOf(`/v3/groups/${group}/users`, 'users')).toEqual([owner]);
    expect(await idsOf(`/v3/users/${owner}/groups`, 'groups')).toEqual([group]);
    expect(await reader('GET', at(`/v3/groups/${otherGroup}/users`))).toMatchObject(denied('list_users_in_group'));
    await send('PUT', `/v3/domains/${otherDomain}/users/${otherUser}/roles/${roleIds.reader}`);
    const { role_assignments } = (await reader('GET', at('/v3/role_assignments'))).body;
    expect(role_assignments.length).toBeGreaterThan(0);
    expect(role_assignments.some(({ user }: any) => user?.id === otherUser)).toBe(false);
  });
});

describe('a member of a project', () => {
  it('cannot access the application credential of another user at its own path', async () => {
    const { callers, trustee, owner } = await cloudWithDomains();
    const application_credential = { name: 'ci' };
    const path = at(`/v3/users/${owner}/application_credentials`);
    const { body } = (await callers.owner?.('POST', path, { application_credential })) ?? {};
    const ownPath = at(`/v3/users/${trustee}/application_credentials`);
    expect(await callers.trustee?.('GET', `${ownPath}/${body.application_credential.id}`)).toMatchObject(
      denied('get_application_credential'),
    );
    expect(await callers.trustee?.('GET', `${ownPath}/missing`)).toMatchObject({ status: 404 });
    expect(await callers.trustee?.('GET', `${path}/missing`)).toMatchObject(denied('get_application_credential'));
  });

  it('reads the limits of its own project only', async () => {
    const { callers, send, make, project, otherProject } = await cloudWithDomains();
    const service_id = await make('services', 'service', { type: unique('type') });
    const limit = { service_id, resource_name: 'cores' };
    await send('POST', '/v3/registered_limits', { registered_limits: [{ ...limit, default_limit: 1 }] });
    await send('POST', '/v3/limits', {
      limits: [project, otherProject].map((project_id) => ({ ...limit, project_id, resource_limit: 2 })),
    });
    const { limits } = (await callers.owner?.('GET', at('/v3/limits')))?.body ?? {};
    expect(limits.map(({ project_id }: any) => project_id)).toEqual([project]);
    expect((await callers['domain member']?.('GET', at('/v3/limits')))?.body.limits).toHaveLength(2);
    expect((await callers['other domain member']?.('GET', at('/v3/limits')))?.body.limits).toEqual([]);
  });
});
