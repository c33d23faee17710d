import type { Caller } from '@apistrata/compute-engine';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileExpression, type Target } from '../../src/policy/check.js';
import { type Expression, parseExpression } from '../../src/policy/expression.js';
import { PolicySyntaxError } from '../../src/policy/policy-errors.js';

const alice: Caller = { userId: 'alice', projectId: 'demo', roles: ['member', 'auditor'] };

const noRules = (name: string): never => {
  throw new Error(`no rule ${name} here`);
};
const decide = (text: string, caller = alice, target?: Target) =>
  compileExpression(parseExpression(text), noRules)(caller, target);

/** Evaluates an expression by walking its tree, unlike the compiler. Supports only the checks that `leaf` creates. */
function walk(expression: Expression, truths: ReadonlySet<string>): boolean {
  switch (expression.kind) {
    case 'everybody':
      return true;
    case 'nobody':
      return false;
    case 'not':
      return !walk(expression.of, truths);
    case 'and':
      return expression.of.every((part) => walk(part, truths));
    case 'or':
      return expression.of.some((part) => walk(part, truths));
    case 'check':
      return truths.has((expression.operand as { readonly text: string }).text);
  }
}

const ROLES = ['a', 'b', 'c', 'd'];
const leaf: fc.Arbitrary<Expression> = fc.oneof(
  fc.constant<Expression>({ kind: 'everybody' }),
  fc.constant<Expression>({ kind: 'nobody' }),
  fc.constantFrom(...ROLES).map((text): Expression => ({ kind: 'check', check: 'role', operand: { text } })),
);
const { expression } = fc.letrec<{ expression: Expression }>((tie) => ({
  expression: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    tie('expression').map((of): Expression => ({ kind: 'not', of })),
    fc
      .tuple(
        fc.constantFrom('and' as const, 'or' as const),
        fc.array(tie('expression'), { minLength: 2, maxLength: 3 }),
      )
      .map(([kind, of]): Expression => ({ kind, of })),
  ),
}));

const BINDS = { or: 0, and: 1, not: 2 } as const;
type Blank = () => string;

/** Formats an expression with parentheses only where they are necessary. */
function write(tree: Expression, blank: Blank, around = 0): string {
  if (tree.kind === 'everybody') return '@';
  if (tree.kind === 'nobody') return '!';
  if (tree.kind === 'check') return `${tree.check}:${(tree.operand as { readonly text: string }).text}`;
  const binds = BINDS[tree.kind];
  const text =
    tree.kind === 'not'
      ? `not${blank()}${write(tree.of, blank, binds)}`
      : tree.of.map((part) => write(part, blank, binds + 1)).join(`${blank()}${tree.kind}${blank()}`);
  return binds < around ? `(${blank()}${text}${blank()})` : text;
}

describe('a policy expression', () => {
  it.each([
    ['', true],
    ['   ', true],
    ['@', true],
    ['!', false],
    ['not !', true],
    ['role:member', true],
    ['role:Member', true],
    ['role:reader', true],
    ['role:manager', false],
    ['role:auditor', true],
    ['not role:admin', true],
    ['role:admin or role:auditor', true],
    ['role:admin and role:auditor', false],
    ['role:auditor or role:admin and role:admin', true],
    ['(role:auditor or role:admin) and role:admin', false],
    ['not role:admin and role:auditor', true],
    ['not (role:admin or role:auditor)', false],
    ['NOT role:admin AND (role:auditor)', true],
    ['user_id:alice', true],
    ['user_id:bob', false],
    ['project_id:demo', true],
    ['project_id:%(project_id)s', true],
    ['user_id:%(user_id)s', true],
    ['service_roles:service', false],
    ['system_scope:all', false],
    ['user_domain_id:default', false],
  ])('%j is %j for a member of demo who is also an auditor', (text, expected) => {
    expect(decide(text)).toBe(expected);
  });

  it('compares with the target if there is one', () => {
    expect(decide('project_id:%(project_id)s', alice, { projectId: 'demo' })).toBe(true);
    expect(decide('project_id:%(project_id)s', alice, { projectId: 'other' })).toBe(false);
    expect(decide('user_id:%(user_id)s', alice, { userId: 'bob' })).toBe(false);
  });

  it('does not match by a field that the target lacks', () => {
    expect(decide('project_id:%(project_id)s', alice, {})).toBe(false);
    expect(decide('user_id:%(user_id)s', alice, { projectId: 'demo' })).toBe(false);
  });

  it('never treats a caller outside any project as an owner', () => {
    expect(decide('project_id:%(project_id)s', { ...alice, projectId: '' })).toBe(false);
    expect(decide('project_id:%(project_id)s', { ...alice, projectId: '' }, { projectId: '' })).toBe(false);
  });

  it('supports roles of a forwarding service, and the system scope', () => {
    expect(decide('service_roles:service', { ...alice, serviceRoles: ['service'] })).toBe(true);
    expect(decide('system_scope:all', { ...alice, systemScope: true })).toBe(true);
    expect(
      decide('user_domain_id:d1 and project_domain_id:d2', { ...alice, userDomainId: 'd1', projectDomainId: 'd2' }),
    ).toBe(true);
  });

  it.each([
    ['admin', ['admin', 'manager', 'member', 'reader']],
    ['manager', ['manager', 'member', 'reader']],
    ['member', ['member', 'reader']],
    ['reader', ['reader']],
    ['service', ['service']],
  ])('treats role %s as implied by %j', (role, implied) => {
    const all = ['admin', 'manager', 'member', 'reader', 'service'];
    expect(all.filter((expected) => decide(`role:${expected}`, { ...alice, roles: [role] }))).toEqual(implied);
  });

  it.each([
    ['role:admin or', 14, /the end/],
    ['role:admin role:member', 12, /second check/],
    ['and role:admin', 1, /"and"/],
    ['(role:admin', 12, /the end/],
    ['role:admin)', 11, /"\)"/],
    ['()', 2, /"\)"/],
    ['  admin', 3, /not a check/],
    ['role:', 1, /not a check/],
    ['role:%(project_id)s', 1, /cannot be compared/],
    ['project_id:%(tenant)s', 1, /unknown target field "tenant"/],
    ['group:staff', 1, /unknown check "group:"/],
    ['role:a or constructor:x', 11, /unknown check "constructor:"/],
    ['http://host/check', 1, /unknown check "http:"/],
    ['system_scope:some', 1, /must be all/],
    ['is_admin:yes', 1, /must be True or False/],
    ['!role:admin', 1, /not a check/],
    ["'admin':role", 1, /not a check/],
  ])('rejects %j at column %i', (text, column, message) => {
    const rejection = (() => {
      try {
        return parseExpression(text);
      } catch (error) {
        return error as PolicySyntaxError;
      }
    })();
    expect(rejection).toBeInstanceOf(PolicySyntaxError);
    expect(rejection).toMatchObject({ code: 'POLICY_SYNTAX', column, message: expect.stringMatching(message) });
  });

  it('has the meaning of its tree, with any white space', () => {
    const blank = fc.constantFrom(' ', '  ', '\t', '\n ');
    fc.assert(
      fc.property(expression, fc.subarray(ROLES), fc.infiniteStream(blank), (tree, roles, blanks) => {
        const text = write(tree, () => blanks.next().value);
        expect(decide(text, { ...alice, roles })).toBe(walk(tree, new Set(roles)));
      }),
    );
  });

  it('keeps its meaning with superfluous parentheses or keywords in capitals', () => {
    fc.assert(
      fc.property(expression, fc.subarray(ROLES), (tree, roles) => {
        const text = write(tree, () => ' ');
        const caller = { ...alice, roles };
        expect(decide(`((${text.replace(/\b(and|or|not)\b/g, (word) => word.toUpperCase())}) )`, caller)).toBe(
          decide(text, caller),
        );
      }),
    );
  });

  it('either is parsed or fails with a column inside the string, for any string', () => {
    const word = fc.constantFrom(
      'role:x',
      '(',
      ')',
      'and',
      'or',
      'not',
      '@',
      '!',
      ' ',
      '%(',
      'x',
      ':',
      'project_id:%(project_id)s',
    );
    const text = fc.oneof(
      fc.string(),
      fc.array(word).map((words) => words.join('')),
      fc.array(word).map((words) => words.join(' ')),
    );
    fc.assert(
      fc.property(text, (anything) => {
        try {
          expect(typeof decide(anything)).toBe('boolean');
        } catch (error) {
          if (!(error instanceof PolicySyntaxError)) throw error;
          expect(error.column).toBeGreaterThanOrEqual(1);
          expect(error.column).toBeLessThanOrEqual(anything.length + 1);
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('rejects unbounded nesting instead of overflowing the stack', () => {
    const deep = `${'('.repeat(100_000)}@${')'.repeat(100_000)}`;
    expect(() => parseExpression(deep)).toThrow(/more than 64 nested levels/);
    expect(() => parseExpression(`${'not '.repeat(100_000)}@`)).toThrow(/more than 64 nested levels/);
  });
});
