import type { TestCloud } from '../test-cloud.js';
import type { IdentifierMapping } from './identifier-mapping.js';
import type { Recorded } from './recorded.js';
import { requestAsAdmin } from './request-as-admin.js';

interface Named {
  readonly id: string;
  readonly name: string;
}

interface RecordedToken {
  readonly user?: Named;
  readonly project?: Named;
  readonly roles?: readonly Named[];
}

interface PasswordLogin {
  readonly auth?: { readonly identity?: { readonly password?: { readonly user?: { readonly password?: string } } } };
}

/**
 * Creates the user of a recorded authentication request, with the roles in the recorded response, before the request is
 * repeated. Users who existed before the recording get the test cloud's password; users who were created in the
 * recording keep the password of their create request.
 */
export async function prepareLogin(
  entry: Recorded,
  {
    cloud,
    identifiers,
    createdUsers,
  }: { cloud: TestCloud; identifiers: IdentifierMapping; createdUsers: ReadonlySet<string> },
): Promise<void> {
  if (entry.method !== 'POST' || !/\/auth\/tokens(?:\?|$)/.test(entry.url) || entry.status >= 300) return;
  const { user, project, roles = [] } = (entry.responseBody as { token?: RecordedToken } | undefined)?.token ?? {};
  if (!user || createdUsers.has(user.name)) return;
  const password = (entry.requestBody as PasswordLogin | undefined)?.auth?.identity?.password?.user?.password;
  if (password !== undefined) identifiers.add(password, cloud.env.OS_PASSWORD);
  const roleNames = roles.map(({ name }) => name);
  const token = cloud.token(user.name, project?.name, roleNames);
  const tokenResponse = await requestAsAdmin(cloud, 'GET', '/identity/v3/auth/tokens', undefined, {
    'X-Subject-Token': token,
  });
  const login = tokenResponse.token as Required<RecordedToken>;
  identifiers.add(user.id, login.user.id);
  if (!project) return;
  identifiers.add(project.id, login.project.id);
  const rolesPath = `/identity/v3/projects/${login.project.id}/users/${login.user.id}/roles`;
  for (const { id, name } of login.roles)
    if (roleNames.includes(name)) await requestAsAdmin(cloud, 'PUT', `${rolesPath}/${id}`);
}
