import type { Caller } from '@apistrata/compute-engine';
import { INCLUDING_ROLES } from '@apistrata/compute-router';

/** A role in a project that a policy can require. */
export type ProjectRole = keyof typeof INCLUDING_ROLES;

/**
 * Returns whether the caller has a role or one that includes it. Role names are case-insensitive. Services may do what
 * members may do.
 */
export function hasRole({ roles }: Caller, required: ProjectRole): boolean {
  const sufficientRoles: readonly string[] = INCLUDING_ROLES[required];
  return roles.some((name) => {
    const role = name.toLowerCase();
    return sufficientRoles.includes(role === 'service' ? 'member' : role);
  });
}
