import type { Scope, Token } from './identity-records.js';
import type { tablesOf } from './identity-tables.js';

/** The parts of the directory that determine the roles of a token. */
interface Directory {
  readonly state: ReturnType<typeof tablesOf>;
  roleIdsOf(userId: string, scope: Scope): readonly string[];
  effectiveRoles(roleIds: readonly string[]): readonly string[];
}

type Grant = Pick<Token, 'userId' | 'scope'> & Partial<Token>;

/** Returns the user's roles, reduced to the delegated roles; undefined if the delegation no longer exists. */
function delegatedRoles(
  directory: Directory,
  grant: Grant,
  assigned: ReadonlySet<string>,
): readonly string[] | undefined {
  const { credentials, accessTokens } = directory.state;
  if (grant.applicationCredentialId)
    return credentials.get(grant.applicationCredentialId)?.roleIds.filter((id) => assigned.has(id));
  if (!grant.accessTokenId) return [...assigned];
  const delegated = accessTokens.get(grant.accessTokenId)?.roleIds;
  return delegated && directory.effectiveRoles(delegated).filter((id) => assigned.has(id));
}

/** Returns a trust's roles; undefined if the trust or a user is missing or disabled, or the trustor lacks a role. */
function trustedRoles(directory: Directory, trustId: string): readonly string[] | undefined {
  const { trusts, users } = directory.state;
  const trust = trusts.get(trustId);
  if (!trust) return undefined;
  const both = [users.get(trust.trustor_user_id), users.get(trust.trustee_user_id)];
  if (both.some((user) => !user || user.enabled === false)) return undefined;
  if (!trust.project_id) return [];
  const assigned = directory.roleIdsOf(trust.trustor_user_id, { kind: 'project', id: trust.project_id });
  const roles = directory.effectiveRoles(trust.roles.map(({ id }) => id));
  return roles.every((id) => assigned.includes(id)) ? roles : undefined;
}

/**
 * Returns the IDs of a token's current roles; an empty list if the token is unscoped. Returns undefined if the user or
 * scope is disabled, the user has no role on the scope, or the trust or other delegation was deleted.
 */
export function currentRoleIds(directory: Directory, grant: Grant): readonly string[] | undefined {
  const { users, projects, domains } = directory.state;
  const { userId, scope } = grant;
  const isDisabled = (record: { readonly enabled?: boolean } | undefined) => record?.enabled === false;
  const user = users.get(userId);
  if (isDisabled(user) || isDisabled(domains.get(user?.domain_id ?? ''))) return undefined;
  const trusted = grant.trustId ? trustedRoles(directory, grant.trustId) : undefined;
  if (grant.trustId && !trusted) return undefined;
  if (!scope) return [];
  const project = scope.kind === 'project' ? projects.get(scope.id) : undefined;
  if (isDisabled(project) || isDisabled(domains.get(project?.domain_id ?? scope.id))) return undefined;
  const roles = trusted ?? delegatedRoles(directory, grant, new Set(directory.roleIdsOf(userId, scope)));
  return roles && roles.length > 0 ? roles : undefined;
}
