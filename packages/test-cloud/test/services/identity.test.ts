import { describe, expect, it } from 'vitest';
import type { TestCloud } from '../../src/index.js';
import { clientOf, cloudUnderTest } from '../clouds.js';

const domain = { id: 'default' };
const passwordOf = (name: string, password = 'secret') => ({
  methods: ['password'],
  password: { user: { name, domain, password } },
});
const project = (name: string) => ({ project: { name, domain: { name: 'Default' } } });

async function logIn(cloud: TestCloud, identity: unknown, scope?: unknown) {
  const responded = await clientOf(cloud, '')('POST', '/identity/v3/auth/tokens', { auth: { identity, scope } });
  return { ...responded, token: responded.headers.get('x-subject-token') ?? '' };
}

describe('a login', () => {
  it('returns a token of a project, with roles and a catalog of that project', async () => {
    const cloud = await cloudUnderTest();
    const { status, body, token } = await logIn(cloud, passwordOf('demo'), project('demo'));
    expect(status).toBe(201);
    expect(body.token.project).toMatchObject({ name: 'demo', domain: { name: 'Default' } });
    expect(body.token.roles.map(({ name }: { name: string }) => name)).toEqual(['member', 'reader']);
    expect(body.token.expires_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    const volume = body.token.catalog.find(({ type }: { type: string }) => type === 'volumev3');
    expect(volume.endpoints[0].url).toBe(`${cloud.url}/volume/v3/${body.token.project.id}`);
    expect((await clientOf(cloud, token)('GET', '/compute/v2.1/servers')).status).toBe(200);
  });

  it.each([
    ['a wrong password', passwordOf('demo', 'wrong'), project('demo')],
    ['an unknown user', passwordOf('nobody'), project('demo')],
    ['a project without a role', passwordOf('demo'), project('alt_demo')],
    ['an unknown project', passwordOf('demo'), project('nowhere')],
    ['an unknown method', { methods: ['magic'] }, project('demo')],
    ['system scope without a role there', passwordOf('demo'), { system: { all: true } }],
  ])('is rejected for %s with a 401 that does not reveal the cause', async (_, identity, scope) => {
    const { status, body } = await logIn(await cloudUnderTest(), identity, scope);
    expect(status).toBe(401);
    expect(body.error).toMatchObject({ code: 401, title: 'Unauthorized' });
  });

  it('returns unscoped, domain and system tokens', async () => {
    const cloud = await cloudUnderTest();
    const unscoped = await logIn(cloud, passwordOf('demo'), 'unscoped');
    expect(unscoped.body.token).not.toHaveProperty('catalog');
    expect((await logIn(cloud, passwordOf('admin'), { domain })).body.token.domain.name).toBe('Default');
    const system = await logIn(cloud, passwordOf('admin'), { system: { all: true } });
    expect(system.body.token.system).toEqual({ all: true });
    const ownProjects = await clientOf(cloud, unscoped.token)('GET', '/identity/v3/auth/projects');
    expect(ownProjects.body.projects.map(({ name }: { name: string }) => name)).toEqual(['demo']);
    const rescoped = await logIn(cloud, { methods: ['token'], token: { id: unscoped.token } }, project('demo'));
    expect(rescoped.body.token.methods).toEqual(['password', 'token']);
    expect(rescoped.body.token.expires_at).toBe(unscoped.body.token.expires_at);
  });

  it('accepts application credentials, whose roles are those that their owner granted', async () => {
    const cloud = await cloudUnderTest();
    const login = await logIn(cloud, passwordOf('demo'), project('demo'));
    const path = `/identity/v3/users/${login.body.token.user.id}/application_credentials`;
    const request = clientOf(cloud, login.token);
    const expected = { name: 'ci', roles: [{ name: 'reader' }], expires_at: '2999-01-01T00:00:00' };
    const created = await request('POST', path, { application_credential: expected });
    expect(created).toMatchObject({
      status: 201,
      body: { application_credential: { name: 'ci', unrestricted: false } },
    });
    const { id, secret } = created.body.application_credential;
    const methods = ['application_credential'];
    const used = await logIn(cloud, { methods, application_credential: { id, secret } });
    expect(used.body.token.roles.map(({ name }: { name: string }) => name)).toEqual(['reader']);
    expect(used.body.token.application_credential).toEqual({ id, name: 'ci', restricted: true });
    expect((await logIn(cloud, { methods, application_credential: { id, secret: 'x' } })).status).toBe(401);
    expect((await request('POST', path, { application_credential: expected })).status).toBe(409);
    const roles = [{ name: 'admin' }];
    expect((await request('POST', path, { application_credential: { name: 'more', roles } })).status).toBe(400);
    expect((await request('GET', path)).body.application_credentials[0]).not.toHaveProperty('secret');
    expect((await request('DELETE', `${path}/${id}`)).status).toBe(204);
    expect((await logIn(cloud, { methods, application_credential: { id, secret } })).status).toBe(401);
  });
});

describe('tokens', () => {
  it('are validated for administrators and their owners, and end when they are revoked', async () => {
    const cloud = await cloudUnderTest();
    const token = cloud.token('ada', 'lab');
    const path = '/identity/v3/auth/tokens';
    const requested = { 'X-Subject-Token': token };
    const admin = clientOf(cloud);
    expect((await admin('GET', path, undefined, requested)).body.token.user.name).toBe('ada');
    expect((await clientOf(cloud, cloud.token('eve', 'lab'))('GET', path, undefined, requested)).status).toBe(403);
    const owner = clientOf(cloud, token);
    expect((await owner('GET', `${path}?nocatalog`, undefined, requested)).body.token).not.toHaveProperty('catalog');
    expect((await owner('DELETE', path, undefined, requested)).status).toBe(204);
    expect((await admin('HEAD', path, undefined, requested)).status).toBe(404);
    expect((await owner('GET', '/compute/v2.1/servers')).status).toBe(401);
  });
});

describe('the directory', () => {
  it.each([
    ['domains', 'domain', { name: 'new' }],
    ['projects', 'project', { name: 'new', description: 'a project' }],
    ['users', 'user', { name: 'new', password: 'hidden' }],
    ['groups', 'group', { name: 'new' }],
    ['roles', 'role', { name: 'new' }],
  ])('creates, shows, finds, changes and deletes %s', async (many, one, expected) => {
    const cloud = await cloudUnderTest();
    const request = clientOf(cloud);
    const path = `/identity/v3/${many}`;
    const { status, body } = await request('POST', path, { [one]: expected });
    expect(status).toBe(201);
    const { id } = body[one];
    expect(JSON.stringify(body)).not.toContain('hidden');
    expect((await request('POST', path, { [one]: expected })).status).toBe(409);
    expect((await request('GET', `${path}/${id}`)).body[one]).toEqual(body[one]);
    expect((await request('GET', `${path}?name=new`)).body[many]).toEqual([body[one]]);
    expect((await request('PATCH', `${path}/${id}`, { [one]: { description: 'changed' } })).body[one].description).toBe(
      'changed',
    );
    if (many === 'domains') {
      expect((await request('DELETE', `${path}/${id}`)).status).toBe(403);
      await request('PATCH', `${path}/${id}`, { domain: { enabled: false } });
    }
    expect((await request('DELETE', `${path}/${id}`)).status).toBe(204);
    expect((await request('GET', `${path}/${id}`)).status).toBe(404);
    const member = clientOf(cloud, cloud.token('demo', 'demo'));
    expect((await member('POST', path, { [one]: expected })).status).toBe(403);
  });

  it('grants and revokes roles, for users and through groups', async () => {
    const cloud = await cloudUnderTest();
    const request = clientOf(cloud);
    const id = async (many: string, one: string, fields: object) =>
      (await request('POST', `/identity/v3/${many}`, { [one]: fields })).body[one].id as string;
    const [user, lab, group] = [
      await id('users', 'user', { name: 'ada', password: 'secret' }),
      await id('projects', 'project', { name: 'lab' }),
      await id('groups', 'group', { name: 'crew' }),
    ];
    const roles = (await request('GET', '/identity/v3/roles?name=member')).body.roles;
    const grant = `/identity/v3/projects/${lab}/groups/${group}/roles/${roles[0].id}`;
    expect((await logIn(cloud, passwordOf('ada'), project('lab'))).status).toBe(401);
    expect((await request('PUT', grant)).status).toBe(204);
    expect((await request('PUT', `/identity/v3/groups/${group}/users/${user}`)).status).toBe(204);
    expect((await logIn(cloud, passwordOf('ada'), project('lab'))).status).toBe(201);
    const listed = await request('GET', `/identity/v3/role_assignments?scope.project.id=${lab}&include_names`);
    expect(listed.body.role_assignments).toMatchObject([{ group: { name: 'crew' }, role: { name: 'member' } }]);
    expect((await request('HEAD', grant)).status).toBe(204);
    expect((await request('DELETE', grant)).status).toBe(204);
    expect((await request('HEAD', grant)).status).toBe(404);
    expect((await logIn(cloud, passwordOf('ada'), project('lab'))).status).toBe(401);
  });
});
