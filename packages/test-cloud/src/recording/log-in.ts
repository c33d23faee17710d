import type { TestCloud } from '../test-cloud.js';
import { askAsAdmin } from './ask-as-admin.js';
import type { Correspondence } from './correspondence.js';
import type { Recorded } from './recorded.js';

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
 * Before a recorded login is repeated, whoever it is has to be here, with the roles that the real cloud found. Who was there
 * before the recording gets the password of here; who was made in it has the password of that request.
 */
export async function logIn(
  entry: Recorded,
  { cloud, names, usersMade }: { cloud: TestCloud; names: Correspondence; usersMade: ReadonlySet<string> },
): Promise<void> {
  if (entry.method !== 'POST' || !/\/auth\/tokens(?:\?|$)/.test(entry.url) || entry.status >= 300) return;
  const { user, project, roles = [] } = (entry.responseBody as { token?: RecordedToken } | undefined)?.token ?? {};
  if (!user || usersMade.has(user.name)) return;
  const password = (entry.requestBody as PasswordLogin | undefined)?.auth?.identity?.password?.user?.password;
  if (password !== undefined) names.same(password, cloud.env.OS_PASSWORD);
  const roleNames = roles.map(({ name }) => name);
  const token = cloud.token(user.name, project?.name, roleNames);
  const here = await askAsAdmin(cloud, 'GET', '/identity/v3/auth/tokens', undefined, { 'X-Subject-Token': token });
  const login = here.token as Required<RecordedToken>;
  names.same(user.id, login.user.id);
  if (!project) return;
  names.same(project.id, login.project.id);
  const grants = `/identity/v3/projects/${login.project.id}/users/${login.user.id}/roles`;
  for (const { id, name } of login.roles)
    if (roleNames.includes(name)) await askAsAdmin(cloud, 'PUT', `${grants}/${id}`);
}
