import { describe, expect, it } from 'vitest';
import { clientOf, cloudUnderTest } from '../clouds.js';

const at = (path: string) => `/identity/v3/${path}`;

async function identity() {
  const cloud = await cloudUnderTest();
  const request = clientOf(cloud);
  const make = async (many: string, one: string, fields: object) => {
    const { status, body } = await request('POST', at(many), { [one]: fields });
    expect(status, JSON.stringify(body)).toBe(201);
    return body[one];
  };
  return { cloud, request, make };
}

const rejected = (status: number, message: string) => ({ status, body: { error: { code: status, message } } });

describe('projects', () => {
  it('can be nested five levels deep', async () => {
    const { request, make } = await identity();
    let parent_id: string | undefined;
    for (let level = 1; level <= 5; level += 1)
      parent_id = (await make('projects', 'project', { name: `level ${level}`, parent_id })).id;
    expect(await request('POST', at('projects'), { project: { name: 'sixth', parent_id } })).toMatchObject(
      rejected(403, `Max hierarchy depth reached for ${parent_id} branch.`),
    );
  });

  it('belong to the domain of their parent', async () => {
    const { request, make } = await identity();
    const domain = (await make('domains', 'domain', { name: 'd' })).id;
    const parent = await make('projects', 'project', { name: 'parent', domain_id: domain });
    const create = (fields: object) => request('POST', at('projects'), { project: { name: 'p', ...fields } });
    expect(await create({ domain_id: 'default', parent_id: parent.id })).toMatchObject(
      rejected(
        400,
        `Cannot create project, since it specifies its domain_id default, but specifies a parent in a different domain (${domain}).`,
      ),
    );
    expect(await create({ domain_id: 'default', parent_id: domain })).toMatchObject(
      rejected(
        400,
        `Cannot create project, the parent (${domain}) is acting as a domain, but this project's domain id (default) does not match the parent's id.`,
      ),
    );
    expect((await create({ parent_id: parent.id })).body.project.domain_id).toBe(domain);
  });

  it('are disabled from below and enabled from above', async () => {
    const { request, make } = await identity();
    const { id } = await make('projects', 'project', { name: 'top' });
    const below = await make('projects', 'project', { name: 'below', parent_id: id });
    const set = (project: string, enabled: boolean) =>
      request('PATCH', at(`projects/${project}`), { project: { enabled } });
    expect(await set(id, false)).toMatchObject(
      rejected(403, `Cannot disable project ${id} since its subtree contains enabled projects.`),
    );
    expect((await set(below.id, false)).status).toBe(200);
    expect((await set(id, false)).status).toBe(200);
    expect(await set(below.id, true)).toMatchObject(
      rejected(403, `Cannot enable project ${below.id} since it has disabled parents`),
    );
    expect(await request('POST', at('projects'), { project: { name: 'p', parent_id: id } })).toMatchObject(
      rejected(400, `cannot create a project in a branch containing a disabled project: ${id}`),
    );
  });

  it.each([
    ['parent_id', 'other', 403, 'Update of `parent_id` is not allowed.'],
    ['is_domain', true, 400, 'Update of `is_domain` is not allowed.'],
    ['domain_id', 'other', 400, 'Cannot change Domain ID'],
    ['id', 'other', 400, 'Cannot change ID'],
  ])('keep their %s', async (field, value, status, message) => {
    const { request, make } = await identity();
    const project = await make('projects', 'project', { name: 'p' });
    const path = at(`projects/${project.id}`);
    const same = field === 'id' ? project.id : project[field];
    expect((await request('PATCH', path, { project: { [field]: same } })).status).toBe(200);
    expect(await request('PATCH', path, { project: { [field]: value } })).toMatchObject(rejected(status, message));
  });

  it('have up to 80 tags, which the response links', async () => {
    const { request, make } = await identity();
    const { id } = await make('projects', 'project', { name: 'p', tags: ['a'] });
    const path = at(`projects/${id}/tags`);
    const self = expect.stringMatching(/\/identity\/v3\/projects\/\w+\/tags$/);
    expect((await request('GET', path)).body).toEqual({ tags: ['a'], links: { self } });
    const many = Array.from({ length: 80 }, (_, number) => `t${number}`);
    expect((await request('PUT', path, { tags: many })).body.tags).toEqual(many);
    expect((await request('PUT', `${path}/more`)).status).toBe(400);
    expect((await request('PUT', `${path}/t1`)).status).toBe(201);
    expect(await request('GET', `${path}/z`)).toMatchObject(rejected(404, 'Could not find project tag: z.'));
    for (const tags of [['x', 'x'], ['a,b'], [''], {}]) expect((await request('PUT', path, { tags })).status).toBe(400);
  });
});

describe('an immutable record', () => {
  it.each([
    ['roles', 'role'],
    ['projects', 'project'],
    ['domains', 'domain'],
  ])('of %s can only be made mutable', async (many, one) => {
    const { request, make } = await identity();
    const { id } = await make(many, one, { name: 'fixed', options: { immutable: true } });
    const path = at(`${many}/${id}`);
    const message = (verb: string) =>
      `Unable to ${verb} immutable ${one} resource: \`${id}. Set resource option "immutable" to false first.`;
    const change = (fields: object) => request('PATCH', path, { [one]: fields });
    expect(await request('DELETE', path)).toMatchObject(rejected(403, message('delete')));
    expect(await change({ name: 'other' })).toMatchObject(rejected(403, message('update')));
    const both = { name: 'other', options: { immutable: false } };
    expect(await change(both)).toMatchObject(rejected(403, message('update')));
    expect((await change({ options: { immutable: null } })).body[one].options).toEqual({});
    expect((await change({ description: 'mutable' })).status).toBe(200);
  });
});

describe('domains', () => {
  it('accept an ID that has the form of a UUID', async () => {
    const { request, make } = await identity();
    const id = '5f0c9a3b0f6a4d1c8e7e2e2b1f4c5c58';
    const created = await make('domains', 'domain', { name: 'd', explicit_domain_id: id });
    expect(created).toMatchObject({ id, name: 'd' });
    expect((await request('GET', at(`domains/${id}`))).body.domain).toEqual(created);
    const again = { domain: { name: 'e', explicit_domain_id: id } };
    expect((await request('POST', at('domains'), again)).status).toBe(409);
    const malformed = { domain: { name: 'e', explicit_domain_id: 'e' } };
    expect((await request('POST', at('domains'), malformed)).status).toBe(400);
  });

  it('replace their configuration, and show the rules for passwords to all users', async () => {
    const { cloud, request } = await identity();
    const path = at('domains/default/config');
    const config = { identity: { driver: 'sql' } };
    expect((await request('PUT', path, { config })).status).toBe(201);
    expect(await request('PUT', path, { config })).toMatchObject({ status: 200, body: { config } });
    const member = clientOf(cloud, cloud.token('demo', 'demo'));
    expect((await member('GET', path)).status).toBe(403);
    const rules = { password_regex: null, password_regex_description: null };
    const shown = await member('GET', `${path}/security_compliance`);
    expect(shown.body).toEqual({ config: { security_compliance: rules } });
    const one = await member('GET', `${path}/security_compliance/password_regex`);
    expect(one.body).toEqual({ config: { password_regex: null } });
    for (const other of [`${path}/security_compliance/lockout_duration`, `${path}/identity`])
      expect((await member('GET', other)).status).toBe(403);
  });

  it('are deleted with their identity providers', async () => {
    const { request } = await identity();
    const path = at('OS-FEDERATION/identity_providers/idp');
    const { domain_id } = (await request('PUT', path, { identity_provider: {} })).body.identity_provider;
    expect((await request('GET', at(`domains/${domain_id}`))).body.domain.name).toBe(domain_id);
    await request('PATCH', at(`domains/${domain_id}`), { domain: { enabled: false } });
    expect((await request('DELETE', at(`domains/${domain_id}`))).status).toBe(204);
    expect((await request('GET', path)).status).toBe(404);
  });
});

describe('users', () => {
  it('can have accounts at identity providers that exist', async () => {
    const { request, make } = await identity();
    const rules = [{ local: [], remote: [{ type: 'REMOTE_USER' }] }];
    await request('PUT', at('OS-FEDERATION/mappings/m'), { mapping: { rules } });
    await request('PUT', at('OS-FEDERATION/identity_providers/idp'), { identity_provider: {} });
    const federated = [{ idp_id: 'idp', protocols: [{ protocol_id: 'openid', unique_id: 'u' }] }];
    const user = { name: 'ada', federated };
    expect(await request('POST', at('users'), { user })).toMatchObject(
      rejected(400, 'Could not find federated protocol openid for Identity Provider: idp.'),
    );
    const path = at('OS-FEDERATION/identity_providers/idp/protocols/openid');
    expect((await request('PUT', path, { protocol: { mapping_id: 'm' } })).status).toBe(201);
    expect((await make('users', 'user', user)).federated).toEqual(federated);
  });

  it('change their password without a token', async () => {
    const { cloud, request } = await identity();
    const { id } = (await request('GET', at('users?name=demo'))).body.users[0];
    const change = (original_password: string) =>
      clientOf(cloud, '')('POST', at(`users/${id}/password`), { user: { password: 'new', original_password } });
    expect((await change('wrong')).status).toBe(401);
    expect((await change('secret')).status).toBe(204);
    expect((await change('secret')).status).toBe(401);
  });
});

describe('a deleted', () => {
  it('user loses all group memberships and credentials', async () => {
    const { request, make } = await identity();
    const user = await make('users', 'user', { name: 'ada' });
    const group = await make('groups', 'group', { name: 'engineers' });
    await make('credentials', 'credential', { user_id: user.id, type: 'totp', blob: 'secret' });
    expect((await request('PUT', at(`groups/${group.id}/users/${user.id}`))).status).toBe(204);
    expect((await request('GET', at(`groups/${group.id}/users`))).body.users).toHaveLength(1);
    expect((await request('DELETE', at(`users/${user.id}`))).status).toBe(204);
    expect((await request('GET', at(`groups/${group.id}/users`))).body.users).toEqual([]);
    expect((await request('GET', at(`credentials?user_id=${user.id}`))).body.credentials).toEqual([]);
  });

  it('project is no longer the default project of users, and loses its credentials, limits and endpoints', async () => {
    const { request, make } = await identity();
    const project = await make('projects', 'project', { name: 'apollo' });
    const user = await make('users', 'user', { name: 'ada', default_project_id: project.id });
    const credential = { user_id: user.id, project_id: project.id, type: 'totp', blob: 'secret' };
    await make('credentials', 'credential', credential);
    const [service] = (await request('GET', at('services'))).body.services;
    const kind = { service_id: service.id, resource_name: 'machines' };
    await request('POST', at('registered_limits'), { registered_limits: [{ ...kind, default_limit: 5 }] });
    await request('POST', at('limits'), { limits: [{ ...kind, project_id: project.id, resource_limit: 7 }] });
    const [endpoint] = (await request('GET', at('endpoints'))).body.endpoints;
    await request('PUT', at(`OS-EP-FILTER/projects/${project.id}/endpoints/${endpoint.id}`));
    const references = async () => {
      const { user: shown } = (await request('GET', at(`users/${user.id}`))).body;
      const { credentials } = (await request('GET', at(`credentials?user_id=${user.id}`))).body;
      const { limits } = (await request('GET', at('limits'))).body;
      const { projects } = (await request('GET', at(`OS-EP-FILTER/endpoints/${endpoint.id}/projects`))).body;
      return [shown.default_project_id, credentials.length, limits.length, projects.length];
    };
    expect(await references()).toEqual([project.id, 1, 1, 1]);
    expect((await request('DELETE', at(`projects/${project.id}`))).status).toBe(204);
    expect(await references()).toEqual([undefined, 0, 0, 0]);
  });
});
