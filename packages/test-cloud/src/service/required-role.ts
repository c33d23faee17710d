import type { Call } from './call.js';
import type { ProjectRole } from './project-role.js';
import type { ResourceType, Verb } from './style.js';

const DEFAULT_ROLES: Readonly<Record<Verb, ProjectRole>> = {
  list: 'reader',
  show: 'reader',
  create: 'member',
  change: 'member',
  remove: 'member',
};

/** Returns whether the caller has the role required for this verb on this resource type. */
export const hasRequiredRole = (call: Call, { spec }: ResourceType, verb: Verb): boolean =>
  call.hasRole(spec.roles?.[verb] ?? DEFAULT_ROLES[verb]);
