import type { Documents } from '../service/documents.js';
import type { Wire } from '../service/wire.js';
import type { AccessToken, ApplicationCredential, Assignment, RequestToken, Token, Trust } from './identity-records.js';
import { tablesOf } from './identity-tables.js';

/**
 * For each table, a function that returns the ids of the records to which a document refers. Deleting one of these
 * records also deletes the document.
 */
const OWNERS: Readonly<Record<string, (document: any) => readonly unknown[]>> = {
  assignments: ({ actor, scope, roleId }: Assignment) => [actor.id, scope.id, roleId],
  tokens: ({ userId, scope }: Token) => [userId, scope?.id],
  'application-credentials': ({ userId, projectId }: ApplicationCredential) => [userId, projectId],
  trusts: (trust: Trust) => [trust.trustor_user_id, trust.trustee_user_id, trust.project_id],
  'oauth-access-tokens': ({ userId, projectId, consumerId }: AccessToken) => [userId, projectId, consumerId],
  'oauth-request-tokens': ({ projectId, consumerId }: RequestToken) => [projectId, consumerId],
  credentials: ({ user_id, project_id }: Wire) => [user_id, project_id],
  'access-rules': ({ user_id }: Wire) => [user_id],
  limits: ({ project_id, domain_id }: Wire) => [project_id, domain_id],
  endpoints: ({ service_id }: Wire) => [service_id],
  'endpoint-filter': ({ project, endpoint }: Wire) => [project, endpoint],
  'endpoint-group-projects': ({ project, group }: Wire) => [project, group],
};

/** Deletes the application credentials of the users to whom a deleted role is assigned, for the same projects. */
function removeCredentialsOfRole({ assignments, credentials }: ReturnType<typeof tablesOf>, deletedRoleId: string) {
  for (const { roleId, actor, scope } of assignments.values()) {
    if (roleId !== deletedRoleId || actor.kind !== 'user' || scope.kind !== 'project') continue;
    for (const [key, { userId, projectId }] of credentials)
      if (userId === actor.id && projectId === scope.id) credentials.delete(key);
  }
}

/**
 * Removes what refers to a deleted record: role assignments, tokens, delegations, credentials, limits, endpoints, group
 * memberships and default projects.
 */
export function removeReferences(documents: Documents, id: string): void {
  const tables = tablesOf(documents);
  removeCredentialsOfRole(tables, id);
  for (const [name, ownersOf] of Object.entries(OWNERS)) {
    const table = documents.table<unknown>(`identity/${name}`);
    for (const [key, document] of table) if (ownersOf(document).includes(id)) table.delete(key);
  }
  const { failedLogins, groups, implied, users } = tables;
  failedLogins.delete(id);
  implied.delete(id);
  documents.table('identity/domain-config').delete(id);
  const withoutId = (ids: readonly string[]) => ids.filter((each) => each !== id);
  for (const [prior, roles] of implied) if (roles.includes(id)) implied.set(prior, withoutId(roles));
  for (const [key, group] of groups)
    if (group.members.includes(id)) groups.set(key, { ...group, members: withoutId(group.members) });
  for (const [key, user] of users)
    if (user.default_project_id === id) users.set(key, { ...user, default_project_id: null });
}
