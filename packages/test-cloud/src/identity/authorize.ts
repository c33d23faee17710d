import type { Call } from '../service/call.js';
import { callerToken, forbiddenAction } from './delegation.js';
import { type Action, POLICIES, type Policy } from './policies.js';
import { CHECKS, type Subject, type Target } from './policy-checks.js';

/** Returns the caller of a request, with the attributes that policies check. */
export function subjectOf(call: Call): Subject {
  const { userId, roles, projectId, projectDomainId } = call.caller;
  const tokenScope = callerToken(call)?.scope;
  const domainId = tokenScope?.kind === 'domain' ? tokenScope.id : undefined;
  return { userId, roles, projectId, projectDomainId, domainId, scope: tokenScope?.kind ?? 'project' };
}

/** Returns whether the caller may perform an action on a target. Without a target, checks of target fields fail. */
export function isAuthorized(call: Call, action: Action, target: Target = {}): boolean {
  const { allows, scopes }: Policy = POLICIES[action];
  const subject = subjectOf(call);
  return scopes.includes(subject.scope) && allows.some((check) => CHECKS[check](subject, target));
}

/** Throws a 403 error that names the action if the caller may not perform it on the target. */
export function authorize(call: Call, action: Action, target?: Target): void {
  if (!isAuthorized(call, action, target)) throw forbiddenAction(`identity:${action}`);
}
