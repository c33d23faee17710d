import type { Caller } from '@apistrata/compute-engine';
import type { CheckName, Expression, Operand } from './expression.js';
import { INCLUDING_ROLES } from './including-roles.js';

/**
 * The owner of the resource that a request accesses. Without a target, policies check the caller's own project and
 * user.
 */
export interface Target {
  readonly projectId?: string;
  readonly userId?: string;
}

/** Returns whether a policy allows the caller to access the target. */
export type PolicyCheck = (caller: Caller, target?: Target) => boolean;

const includingRoles: ReadonlyMap<string, readonly string[]> = new Map(Object.entries(INCLUDING_ROLES));

/**
 * Compiles a policy expression into closures. `rule` returns the compiled check for a referenced rule. Role, project
 * and user checks do not allocate memory.
 */
export function compileExpression(expression: Expression, rule: (name: string) => PolicyCheck): PolicyCheck {
  switch (expression.kind) {
    case 'everybody':
      return () => true;
    case 'nobody':
      return () => false;
    case 'not': {
      const inner = compileExpression(expression.of, rule);
      return (caller, target) => !inner(caller, target);
    }
    case 'and':
      return expression.of
        .map((part) => compileExpression(part, rule))
        .reduce((left, right) => (caller, target) => left(caller, target) && right(caller, target));
    case 'or':
      return expression.of
        .map((part) => compileExpression(part, rule))
        .reduce((left, right) => (caller, target) => left(caller, target) || right(caller, target));
    case 'check':
      return checkFactories[expression.check](expression.operand, rule);
  }
}

type CheckFactory = (operand: Operand, rule: (name: string) => PolicyCheck) => PolicyCheck;

const checkFactories: Readonly<Record<CheckName, CheckFactory>> = {
  rule: (operand, rule) => rule(textOf(operand)),
  role: (operand) => {
    const required = textOf(operand).toLowerCase();
    const sufficientRoles = includingRoles.get(required) ?? [required];
    return (caller) => hasAnyRole(caller.roles, sufficientRoles);
  },
  service_roles: (operand) => {
    const required = [textOf(operand).toLowerCase()];
    return (caller) => caller.serviceRoles !== undefined && hasAnyRole(caller.serviceRoles, required);
  },
  is_admin: (operand, rule) => {
    const isAdmin = rule('context_is_admin');
    return textOf(operand) === 'True' ? isAdmin : (caller, target) => !isAdmin(caller, target);
  },
  system_scope: () => (caller) => caller.systemScope === true,
  project_id: (operand) => createComparison((caller) => caller.projectId, operand),
  user_id: (operand) => createComparison((caller) => caller.userId, operand),
  project_domain_id: (operand) => createComparison((caller) => caller.projectDomainId, operand),
  user_domain_id: (operand) => createComparison((caller) => caller.userDomainId, operand),
};

/**
 * Creates a check that compares one of the caller's ids with the operand. The empty project id of an unscoped caller,
 * and a field that the target does not have, never match.
 */
function createComparison(callerField: (caller: Caller) => string | undefined, operand: Operand): PolicyCheck {
  if ('text' in operand) {
    const { text } = operand;
    return (caller) => callerField(caller) === text;
  }
  const targetField = targetFields[operand.target];
  return (caller, target) => {
    const id = callerField(caller);
    return id !== undefined && id !== '' && id === targetField(caller, target);
  };
}

const targetFields = {
  project_id: (caller: Caller, target: Target | undefined) =>
    target === undefined ? caller.projectId : target.projectId,
  user_id: (caller: Caller, target: Target | undefined) => (target === undefined ? caller.userId : target.userId),
};

function hasAnyRole(roles: readonly string[], required: readonly string[]): boolean {
  // Role names are case-insensitive. `toLowerCase()` does not copy a string that is already in lower case, as most are.
  for (const role of roles) if (required.includes(role.toLowerCase())) return true;
  return false;
}

function textOf(operand: Operand): string {
  if ('text' in operand) return operand.text;
  throw new TypeError('only project_id and user_id can be compared with a target');
}
