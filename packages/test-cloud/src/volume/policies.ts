import type { Call } from '../service/call.js';
import { hasRequiredRole } from '../service/required-role.js';
import { forbidden, type ServiceError } from '../service/service-error.js';
import type { ResourceType, Verb } from '../service/style.js';

/** The names of policies by resource. The name of the operation replaces the asterisk. */
const POLICY_PATTERNS: Readonly<Record<string, string>> = {
  volume: 'volume:*',
  snapshot: 'volume:*_snapshot',
  transfer: 'volume:*_transfer',
  backup: 'backup:*',
  group: 'group:*',
  group_snapshot: 'group:*_group_snapshot',
  group_type: 'group:group_types:*',
  message: 'message:*',
  volume_type: 'volume_extension:type_*',
  qos_specs: 'volume_extension:qos_specs_manage:*',
};

const OPERATIONS: Readonly<Record<Verb, string>> = {
  list: 'get_all',
  show: 'get',
  create: 'create',
  change: 'update',
  remove: 'delete',
};

/** Creates the 403 error for a policy that the caller does not satisfy. */
const policyError = (policy: string): ServiceError => forbidden(`Policy doesn't allow ${policy} to be performed.`);

/** Throws a 403 error unless the caller has the role required for this verb on this resource type. */
export function authorizeVerb(call: Call, resource: ResourceType, verb: Verb, policy?: string): void {
  const { admin, spec } = resource;
  if (call.isAdmin || (!admin.includes(verb) && hasRequiredRole(call, resource, verb))) return;
  const pattern = POLICY_PATTERNS[spec.one] ?? `volume_extension:${spec.many}:*`;
  const plural = verb === 'list' && !pattern.endsWith('*') ? 's' : '';
  throw policyError(policy ?? pattern.replace('*', OPERATIONS[verb]) + plural);
}

/** Throws a 403 error unless the caller has the role that a policy requires. */
export function requirePolicy(call: Call, policy: string, role: 'reader' | 'member' | 'admin'): void {
  if (!(role === 'admin' ? call.isAdmin : call.hasRole(role))) throw policyError(policy);
}

/**
 * Throws a 403 error unless the caller is a member of a project.
 *
 * @param find throws a 404 error if the caller cannot see the resource
 */
export async function requireMember(call: Call, policy: string, find: () => Promise<unknown>): Promise<void> {
  if (!call.hasRole('member')) await find();
  requirePolicy(call, policy, 'member');
}
