import type { Caller } from '@apistrata/compute-engine';

/** For each role, the roles that include it: admin > manager > member > reader. Services may do what members may do. */
const SUFFICIENT_ROLES = {
  reader: ['reader', 'member', 'manager', 'admin', 'service'],
  member: ['member', 'manager', 'admin', 'service'],
  manager: ['manager', 'admin'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** A role in a project that a policy can require. */
export type ProjectRole = keyof typeof SUFFICIENT_ROLES;

/** Returns whether the caller has a role or one that includes it. Role names are case-insensitive. */
export function hasRole({ roles }: Caller, required: ProjectRole): boolean {
  const sufficientRoles: readonly string[] = SUFFICIENT_ROLES[required];
  return roles.some((role) => sufficientRoles.includes(role.toLowerCase()));
}
