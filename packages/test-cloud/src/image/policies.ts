import type { Call } from '../service/call.js';
import { forbidden, type ServiceError } from '../service/service-error.js';

/** Creates the 403 error for an action that the policy forbids. */
export const policyError = (action: string): ServiceError =>
  forbidden(`You are not authorized to complete ${action} action.`);

/** Throws a 403 error unless the caller is an administrator or, with `projectId`, a member of that project. */
export function requirePolicy(call: Call, action: string, projectId?: unknown): void {
  const isMember = projectId === call.caller.projectId && call.hasRole('member');
  if (!call.isAdmin && !isMember) throw policyError(action);
}
