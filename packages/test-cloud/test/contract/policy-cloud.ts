// A cloud with the callers that the facts about policies name, and with a record that belongs to one of them.
import { startCloud } from '../../src/index.js';
import { type ApiResponse, clientOf } from '../clouds.js';

export const at = (path: string) => `/identity${path}`;
export type SendRequest = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<ApiResponse>;

const password = 'secret';
const ROLES = ['admin', 'manager', 'member', 'reader'];
let count = 0;
export const unique = (name: string) => `${name}-${++count}`;

/** Starts a cloud and creates two domains, the projects of the record and of the other callers, and all callers. */
export async function policyCloud() {
  const cloud = await startCloud();
  const admin: SendRequest = clientOf(cloud);
  const send = async (method: string, path: string, body?: unknown) => {
    const response = await admin(method, at(path), body);
    if (response.status >= 400) throw new Error(`${method} ${path}: ${JSON.stringify(response.body)}`);
    return response.body;
  };
  /** Creates a record and returns its ID. */
  const make = async (path: string, one: string, fields: object): Promise<string> =>
    (await send('POST', `/v3/${path}`, { [one]: fields }))[one].id;
  const makeDomain = (fields: object = {}) => make('domains', 'domain', { name: unique('domain'), ...fields });
  const [domain, otherDomain] = [await makeDomain(), await makeDomain()];
  const makeProject = () => make('projects', 'project', { name: unique('project'), domain_id: domain });
  const [project, otherProject] = [await makeProject(), await makeProject()];
  const { roles } = await send('GET', '/v3/roles');
  const roleIds: Record<string, string> = Object.fromEntries(roles.map(({ id, name }: any) => [name, id]));
  const makeUser = (domain_id: string = domain) => make('users', 'user', { name: unique('user'), domain_id, password });

  /** Issues a token to a user, who receives a role on the scope. */
  async function logIn(user: string, role = '', [kind, id]: readonly [kind: string, id: string]): Promise<string> {
    await send('PUT', `/v3/${kind === 'system' ? kind : `${kind}s/${id}`}/users/${user}/roles/${role}`);
    const identity = { methods: ['password'], password: { user: { id: user, password } } };
    const scope = { [kind]: kind === 'system' ? { all: true } : { id } };
    const response = await admin('POST', at('/v3/auth/tokens'), { auth: { identity, scope } });
    return response.headers.get('x-subject-token') ?? '';
  }

  const [owner, trustee] = [await makeUser(), await makeUser()];
  const ownerToken = () => logIn(owner, roleIds.member, ['project', project]);
  const tokens: Record<string, string> = {
    owner: await ownerToken(),
    trustee: await logIn(trustee, roleIds.member, ['project', otherProject]),
    'project service': await logIn(await makeUser(), roleIds.service, ['project', otherProject]),
  };
  const scopes = {
    system: ['system', 'all'],
    domain: ['domain', domain],
    'other domain': ['domain', otherDomain],
    project: ['project', otherProject],
  } as const;
  for (const [name, scope] of Object.entries(scopes))
    for (const role of ROLES)
      tokens[`${name} ${role}`] = await logIn(
        await makeUser(scope === scopes['other domain'] ? otherDomain : domain),
        roleIds[role],
        scope,
      );

  /** The clients of the callers, by the names in the facts. */
  const callers: Readonly<Record<string, SendRequest>> = Object.fromEntries(
    Object.entries(tokens).map(([name, token]) => [name, clientOf(cloud, token)]),
  );
  return {
    ...{ cloud, admin, send, make, makeDomain, makeProject, makeUser, logIn, ownerToken, callers, roleIds },
    ...{ domain, otherDomain, project, otherProject, owner, trustee },
  };
}

export type PolicyCloud = Awaited<ReturnType<typeof policyCloud>>;
