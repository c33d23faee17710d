import type { Caller } from '@apistrata/compute-engine';
import type { CheckName, Expression, Operand } from './expression.js';

/** The fields of an object that policies check. Omit the target for the caller's own project. */
export interface Target {
  readonly projectId?: string;
  readonly userId?: string;
}

/** Returns whether the caller may act on the target. */
export type PolicyCheck = (caller: Caller, target?: Target) => boolean;

/** A role is implied by the roles above it: admin > manager > member > reader. */
const IMPLYING_ROLES: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    reader: ['reader', 'member', 'manager', 'admin'],
    member: ['member', 'manager', 'admin'],
    manager: ['manager', 'admin'],
  }),
);

/**
 * Compiles an expression into closures. `rule` returns the check of a referenced rule. The checks of roles, projects
 * and users allocate nothing.
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
      return checks[expression.check](expression.operand, rule);
  }
}

type CheckFactory = (operand: Operand, rule: (name: string) => PolicyCheck) => PolicyCheck;

const checks: Readonly<Record<CheckName, CheckFactory>> = {
  rule: (operand, rule) => rule(textOf(operand)),
  role: (operand) => {
    const required = textOf(operand).toLowerCase();
    const sufficient = IMPLYING_ROLES.get(required) ?? [required];
    return (caller) => includesAny(caller.roles, sufficient);
  },
  service_roles: (operand) => {
    const required = [textOf(operand).toLowerCase()];
    return (caller) => caller.serviceRoles !== undefined && includesAny(caller.serviceRoles, required);
  },
  is_admin: (operand, rule) => {
    const isAdmin = rule('context_is_admin');
    return textOf(operand) === 'True' ? isAdmin : (caller, target) => !isAdmin(caller, target);
  },
  system_scope: () => (caller) => caller.systemScope === true,
  project_id: (operand) => comparison((caller) => caller.projectId, operand),
  user_id: (operand) => comparison((caller) => caller.userId, operand),
  project_domain_id: (operand) => comparison((caller) => caller.projectDomainId, operand),
  user_domain_id: (operand) => comparison((caller) => caller.userDomainId, operand),
};

/**
 * Creates a check that compares an id of the caller. The empty id of a caller without a project does not equal any id, and
 * a field that the target lacks does not either.
 */
function comparison(callerField: (caller: Caller) => string | undefined, operand: Operand): PolicyCheck {
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

function includesAny(roles: readonly string[], required: readonly string[]): boolean {
  // Role names are compared case-insensitively; for a name in lower case, which is usual, this does not create a copy.
  for (const role of roles) if (required.includes(role.toLowerCase())) return true;
  return false;
}

function textOf(operand: Operand): string {
  if ('text' in operand) return operand.text;
  throw new TypeError('only project_id and user_id can be compared with a target');
}
