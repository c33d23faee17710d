import type { Scope, Token } from './identity-records.js';
import type { tablesOf } from './identity-tables.js';

/** The parts of the directory that determine the roles of a token. */
interface Directory {
  readonly state: ReturnType<typeof tablesOf>;
  roleIdsOf(userId: string, scope: Scope): readonly string[];
  effectiveRoles(roleIds: readonly string[]): readonly string[];
}

type TokenGrant = Pick<Token, 'userId' | 'scope'> & Partial<Token>;

/** Returns the user's roles, limited to the delegated roles; undefined if the delegation no longer exists. */
function roleIdsOfGrant(
  directory: Directory,
  grant: TokenGrant,
  assignedRoleIds: ReadonlySet<string>,
): readonly string[] | undefined {
  const { credentials, accessTokens } = directory.state;
  if (grant.applicationCredentialId)
    return credentials.get(grant.applicationCredentialId)?.roleIds.filter((id) => assignedRoleIds.has(id));
  if (!grant.accessTokenId) return [...assignedRoleIds];
  const delegatedRoleIds = accessTokens.get(grant.accessTokenId)?.roleIds;
  return delegatedRoleIds && directory.effectiveRoles(delegatedRoleIds).filter((id) => assignedRoleIds.has(id));
}

/**
 * Returns a trust's roles. Returns undefined if the trust is missing, either user is missing or disabled, or the
 * trustor lacks a role.
 */
function roleIdsOfTrust(directory: Directory, trustId: string): readonly string[] | undefined {
  const { trusts, users } = directory.state;
  const trust = trusts.get(trustId);
  if (!trust) return undefined;
  const trustUsers = [users.get(trust.trustor_user_id), users.get(trust.trustee_user_id)];
  if (trustUsers.some((user) => !user || user.enabled === false)) return undefined;
  if (!trust.project_id) return [];
  const assignedRoleIds = directory.roleIdsOf(trust.trustor_user_id, { kind: 'project', id: trust.project_id });
  const validRoleIds = directory.effectiveRoles(trust.roles.map(({ id }) => id));
  return validRoleIds.every((id) => assignedRoleIds.includes(id)) ? validRoleIds : undefined;
}

/**
 * Returns the IDs of a token's current roles; an empty list if the token is unscoped. Returns undefined if the user or
 * scope is disabled, the user has no role on the scope, or the trust or other delegation was deleted.
 */
export function currentRoleIds(directory: Directory, grant: TokenGrant): readonly string[] | undefined {
  const { users, projects, domains } = directory.state;
  const { userId, scope } = grant;
  const isDisabled = (record: { readonly enabled?: boolean } | undefined) => record?.enabled === false;
  const user = users.get(userId);
  if (isDisabled(user) || isDisabled(domains.get(user?.domain_id ?? ''))) return undefined;
  const trustedRoleIds = grant.trustId ? roleIdsOfTrust(directory, grant.trustId) : undefined;
  if (grant.trustId && !trustedRoleIds) return undefined;
  if (!scope) return [];
  const project = scope.kind === 'project' ? projects.get(scope.id) : undefined;
  if (isDisabled(project) || isDisabled(domains.get(project?.domain_id ?? scope.id))) return undefined;
  const validRoleIds = trustedRoleIds ?? roleIdsOfGrant(directory, grant, new Set(directory.roleIdsOf(userId, scope)));
  return validRoleIds && validRoleIds.length > 0 ? validRoleIds : undefined;
}
