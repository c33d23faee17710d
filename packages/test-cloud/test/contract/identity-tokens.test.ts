import { describe, expect, it } from 'vitest';
import { clientOf, cloudUnderTest } from '../clouds.js';
import { readFacts } from './operation-facts.js';

const { tokens, tokenParts, assignments } = readFacts('identity');
const at = (path: string) => `/identity/v3/${path}`;
const password = { user: { name: 'demo', domain: { id: 'default' }, password: 'secret' } };
const project = { name: 'demo', domain: { id: 'default' } };
const keysOf = (wire: object) => Object.keys(wire).sort();
const sorted = (keys: readonly string[]) => [...keys].sort();

async function cloud() {
  const started = await cloudUnderTest();
  const admin = clientOf(started);
  const open = clientOf(started, '');
  const member = clientOf(started, started.token('demo', 'demo'));
  const idOf = async (many: string, name: string) =>
    (await admin('GET', at(`${many}?name=${name}`))).body[many][0].id as string;
  const logIn = async (identity: object, scope?: unknown, query = '') => {
    const { status, body, headers } = await open('POST', at(`auth/tokens${query}`), { auth: { identity, scope } });
    expect(status, JSON.stringify(body)).toBe(201);
    return { token: body.token, id: headers.get('x-subject-token') ?? '' };
  };
  const byPassword = (scope?: unknown, query?: string) => logIn({ methods: ['password'], password }, scope, query);
  return { admin, member, idOf, logIn, byPassword };
}

type Cloud = Awaited<ReturnType<typeof cloud>>;

/** Logs in with each scope, or with credentials that determine it. */
const LOGINS: Readonly<Record<string, (cloud: Cloud) => Promise<{ readonly token: any }>>> = {
  unscoped: ({ byPassword }) => byPassword('unscoped'),
  project: ({ byPassword }) => byPassword({ project }),
  async domain({ admin, idOf, byPassword }) {
    const path = `domains/default/users/${await idOf('users', 'demo')}/roles/${await idOf('roles', 'member')}`;
    await admin('PUT', at(path));
    return byPassword({ domain: { id: 'default' } });
  },
  async system({ admin, idOf, byPassword }) {
    await admin('PUT', at(`system/users/${await idOf('users', 'demo')}/roles/${await idOf('roles', 'reader')}`));
    return byPassword({ system: { all: true } });
  },
  async trust({ member, idOf, logIn }) {
    const [trustor_user_id, trustee_user_id] = [await idOf('users', 'demo'), await idOf('users', 'alt_demo')];
    const roles = [{ name: 'member' }];
    const project_id = await idOf('projects', 'demo');
    const trust = { trustor_user_id, trustee_user_id, project_id, impersonation: true, roles };
    const { id } = (await member('POST', at('OS-TRUST/trusts'), { trust })).body.trust;
    const trustee = { user: { ...password.user, name: 'alt_demo' } };
    return logIn({ methods: ['password'], password: trustee }, { 'OS-TRUST:trust': { id } });
  },
  async application_credential({ member, idOf, logIn }) {
    const path = at(`users/${await idOf('users', 'demo')}/application_credentials`);
    const created = await member('POST', path, { application_credential: { name: 'ci' } });
    const { id, secret } = created.body.application_credential;
    return logIn({ methods: ['application_credential'], application_credential: { id, secret } });
  },
};

describe('a token of the identity service', () => {
  it('has a login for each scope in the facts', () => {
    expect(Object.keys(LOGINS)).toEqual(Object.keys(tokens));
  });

  it.each(Object.keys(tokens))('has the fields of the original with the scope %s', async (scope) => {
    const { token } = (await LOGINS[scope]?.(await cloud())) ?? {};
    expect(keysOf(token)).toEqual(sorted(tokens[scope]));
    for (const [part, keys] of Object.entries<readonly string[]>(tokenParts))
      if (token[part] !== undefined) expect([part, keysOf([token[part]].flat()[0])]).toEqual([part, sorted(keys)]);
    if (token.catalog) expect(keysOf(token.catalog[0].endpoints[0])).toEqual(sorted(tokenParts.endpoints));
  });

  it('names the first token of its series', async () => {
    const { logIn, byPassword } = await cloud();
    const first = await byPassword({ project });
    const second = await logIn({ methods: ['token'], token: { id: first.id } }, { project });
    const third = await logIn({ methods: ['token'], token: { id: second.id } }, { project });
    expect(first.token.audit_ids).toHaveLength(1);
    expect(third.token.audit_ids).toEqual([expect.any(String), first.token.audit_ids[0]]);
    expect(third.token.methods).toEqual(['password', 'token']);
  });

  it('lists enabled service providers', async () => {
    const { admin, byPassword } = await cloud();
    const url = 'https://sp.example.org/v3';
    const provider = { auth_url: url, sp_url: url };
    await admin('PUT', at('OS-FEDERATION/service_providers/off'), { service_provider: provider });
    await admin('PUT', at('OS-FEDERATION/service_providers/on'), { service_provider: { ...provider, enabled: true } });
    expect((await byPassword({ project })).token.service_providers).toEqual([{ id: 'on', ...provider }]);
  });

  it('has the endpoints that are associated with its project', async () => {
    const { admin, idOf, byPassword } = await cloud();
    const demo = await idOf('projects', 'demo');
    const { endpoints } = (await admin('GET', at(`endpoints?service_id=${await idOf('services', 'glance')}`))).body;
    await admin('PUT', at(`OS-EP-FILTER/projects/${demo}/endpoints/${endpoints[0].id}`));
    const { catalog } = (await byPassword({ project })).token;
    expect(catalog).toMatchObject([{ type: 'image', endpoints: [{ id: endpoints[0].id }] }]);
  });

  it('has no endpoints with a project in their URL, unless it has a project', async () => {
    const started = await cloud();
    const volumes = (token: any) => token.catalog.find(({ type }: any) => type === 'volumev3').endpoints.length;
    expect(volumes((await LOGINS.system?.(started))?.token)).toBe(0);
    expect(volumes((await LOGINS.project?.(started))?.token)).toBe(3);
  });

  it('restricts lists to its domain', async () => {
    const { admin, idOf, logIn } = await cloud();
    const { id } = (await admin('POST', at('domains'), { domain: { name: 'd' } })).body.domain;
    for (const [many, one] of [
      ['users', 'user'],
      ['groups', 'group'],
      ['projects', 'project'],
    ] as const)
      await admin('POST', at(many), { [one]: { name: 'in-domain', domain_id: id } });
    await admin('PUT', at(`domains/${id}/users/${await idOf('users', 'admin')}/roles/${await idOf('roles', 'admin')}`));
    const identity = { methods: ['password'], password: { user: { ...password.user, name: 'admin' } } };
    const scoped = await logIn(identity, { domain: { id } });
    const names = async (many: string) =>
      (await admin('GET', at(many), undefined, { 'X-Auth-Token': scoped.id })).body[many].map(({ name }: any) => name);
    for (const many of ['users', 'groups', 'projects'])
      expect([many, await names(many)]).toEqual([many, ['in-domain']]);
    expect(await names('domains')).toEqual(['d']);
    expect(await names('role_assignments')).toHaveLength(1);
  });

  it('is issued for an application credential by OAuth 2.0', async () => {
    const started = await cloudUnderTest();
    const admin = clientOf(started);
    const user = (await admin('GET', at('users?name=admin'))).body.users[0].id;
    const path = at(`users/${user}/application_credentials`);
    const created = await admin('POST', path, { application_credential: { name: 'ci' } });
    const { id, secret } = created.body.application_credential;
    const post = async (form: Record<string, string>, headers: Record<string, string> = {}) => {
      const response = await fetch(`${started.url}${at('OS-OAUTH2/token')}`, {
        method: 'POST',
        headers,
        body: new URLSearchParams(form),
      });
      return { status: response.status, body: (await response.json()) as any };
    };
    const grant_type = 'client_credentials';
    const issued = await post({ grant_type, client_id: id, client_secret: secret });
    expect(issued).toMatchObject({ status: 200, body: { token_type: 'Bearer', expires_in: 86_400 } });
    expect((await clientOf(started, issued.body.access_token)('GET', at('users'))).status).toBe(200);
    const basic = `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
    expect((await post({ grant_type }, { Authorization: basic })).status).toBe(200);
    const rejected = { status: 401, body: { error: 'invalid_client' } };
    expect(await post({ grant_type, client_id: id, client_secret: 'wrong' })).toMatchObject(rejected);
    expect(await post({ grant_type })).toMatchObject(rejected);
    const unsupported = { status: 400, body: { error: 'unsupported_grant_type' } };
    expect(await post({ grant_type: 'password' })).toMatchObject(unsupported);
    expect(await post({})).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
  });
});

describe('a role assignment', () => {
  it.each([
    ['ids', ''],
    ['names', '&include_names'],
  ])('has the fields of the original: %s', async (form, query) => {
    const { admin, idOf } = await cloud();
    const path = at(`role_assignments?scope.project.id=${await idOf('projects', 'demo')}${query}`);
    const [assignment] = (await admin('GET', path)).body.role_assignments;
    expect(keysOf(assignment)).toEqual(sorted(assignments.plain));
    const { role, user, project: scope } = assignments[form];
    expect(keysOf(assignment.role)).toEqual(sorted(role));
    expect(keysOf(assignment.user)).toEqual(sorted(user));
    expect(keysOf(assignment.scope.project)).toEqual(sorted(scope));
  });
});

describe('a policy of endpoints', () => {
  it('applies to an endpoint, to a service in a region and its parents, or to a service', async () => {
    const { admin, idOf } = await cloud();
    const make = async (blob: string) =>
      (await admin('POST', at('policies'), { policy: { blob, type: 'text/plain' } })).body.policy.id as string;
    const [own, regional, general] = [await make('own'), await make('regional'), await make('general')];
    await admin('PUT', at('regions/world'), { region: {} });
    await admin('PATCH', at('regions/RegionOne'), { region: { parent_region_id: 'world' } });
    const service = await idOf('services', 'glance');
    const { endpoints } = (await admin('GET', at(`endpoints?service_id=${service}`))).body;
    const [{ id: endpoint }] = endpoints;
    const path = (policy: string, target: string) => at(`policies/${policy}/OS-ENDPOINT-POLICY/${target}`);
    const current = async () =>
      (await admin('GET', at(`endpoints/${endpoint}/OS-ENDPOINT-POLICY/policy`))).body.policy?.blob;
    expect(await current()).toBeUndefined();
    const associate = async (policy: string, target: string) => {
      expect((await admin('GET', path(policy, target))).status).toBe(404);
      expect((await admin('PUT', path(policy, target))).status).toBe(204);
      expect((await admin('GET', path(policy, target))).status).toBe(204);
    };
    await associate(general, `services/${service}`);
    expect(await current()).toBe('general');
    await associate(regional, `services/${service}/regions/world`);
    expect(await current()).toBe('regional');
    await associate(own, `endpoints/${endpoint}`);
    expect(await current()).toBe('own');
    const listed = async (policy: string) => (await admin('GET', path(policy, 'endpoints'))).body.endpoints.length;
    expect([await listed(own), await listed(regional), await listed(general)]).toEqual([1, 3, 3]);
    expect((await admin('DELETE', path(own, `endpoints/${endpoint}`))).status).toBe(204);
    expect(await current()).toBe('regional');
  });
});
