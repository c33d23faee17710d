import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Caller } from '@apistrata/compute-engine';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { policies } from './policies.js';
import { PolicyConfigError, PolicyDenied } from './policy-errors.js';
import { RULES, type RuleName } from './rules.js';

interface Operation {
  readonly policy: readonly { readonly rule: RuleName; readonly default: string }[];
}

const { operations } = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../../../reference/operations.json'), 'utf8'),
) as { readonly operations: readonly Operation[] };
const facts = operations.flatMap((operation) => operation.policy);

const caller = (...roles: string[]): Caller => ({ userId: 'me', projectId: 'mine', roles });
const forEveryone = {
  'a caller without a role': caller(),
  'a reader': caller('reader'),
  'a member': caller('member'),
  'a manager': caller('manager'),
  'an administrator': caller('admin'),
  'a service': caller('service'),
};
type TestedCaller = keyof typeof forEveryone;

const ownTarget = { projectId: 'mine', userId: 'me' };
const foreign = { projectId: 'other', userId: 'other' };

/** For each base rule, the callers that may access their own resources (`mine`) and those of others (`foreign`). */
const callersByBaseRule: Readonly<
  Record<string, { readonly mine: readonly TestedCaller[]; readonly foreign: readonly TestedCaller[] }>
> = {
  any: { mine: Object.keys(forEveryone) as TestedCaller[], foreign: Object.keys(forEveryone) as TestedCaller[] },
  admin: { mine: ['an administrator'], foreign: ['an administrator'] },
  project_reader_or_admin: {
    mine: ['a reader', 'a member', 'a manager', 'an administrator'],
    foreign: ['an administrator'],
  },
  project_member_or_admin: { mine: ['a member', 'a manager', 'an administrator'], foreign: ['an administrator'] },
  project_manager_or_admin: { mine: ['a manager', 'an administrator'], foreign: ['an administrator'] },
  service_or_admin: { mine: ['an administrator', 'a service'], foreign: ['an administrator', 'a service'] },
  'admin or same_user': { mine: Object.keys(forEveryone) as TestedCaller[], foreign: ['an administrator'] },
  nobody: { mine: [], foreign: [] },
};

describe('the default policies', () => {
  const defaults = policies();

  it('contain exactly the rules of the operations, with their default base rules', () => {
    expect(RULES).toEqual(Object.fromEntries(facts.map((fact) => [fact.rule, fact.default])));
  });

  it.each(Object.entries(RULES) as [RuleName, string][])('%s allows %s', (rule, byDefault) => {
    const allowed = (target: object) =>
      (Object.keys(forEveryone) as TestedCaller[]).filter((testedCaller) =>
        defaults.allows(rule, forEveryone[testedCaller], target),
      );
    expect({ mine: allowed(ownTarget), foreign: allowed(foreign) }).toEqual(callersByBaseRule[byDefault]);
  });

  it("apply to the caller's own project by default", () => {
    expect(defaults.allows('os_compute_api:servers:create', caller('member'))).toBe(true);
    expect(defaults.allows('os_compute_api:servers:create', caller('reader'))).toBe(false);
  });

  it('deny access with an error that names the rule', () => {
    const deny = () => defaults.enforce('os_compute_api:os-hosts:list', caller('member'));
    expect(deny).toThrow(PolicyDenied);
    expect(deny).toThrow("Policy doesn't allow os_compute_api:os-hosts:list to be performed.");
    expect(() => defaults.enforce('os_compute_api:os-hosts:list', caller('admin'))).not.toThrow();
  });

  it('deny access with an error that has a status and a code', () => {
    expect(new PolicyDenied('x')).toMatchObject({ status: 403, code: 'POLICY_DENIED', rule: 'x' });
  });

  it('throw for a rule that does not exist', () => {
    expect(() => defaults.allows('os_compute_api:nonsense' as RuleName, caller('admin'))).toThrow(
      /unknown policy rule/,
    );
  });
});

describe('overrides', () => {
  it('replace one rule with an expression and leave the other rules unchanged', () => {
    const own = policies({ overrides: { 'os_compute_api:os-hosts:list': 'role:operator' } });
    expect(own.allows('os_compute_api:os-hosts:list', caller('operator'))).toBe(true);
    expect(own.allows('os_compute_api:os-hosts:list', caller('admin'))).toBe(false);
    expect(own.allows('os_compute_api:os-hosts:show', caller('admin'))).toBe(true);
  });

  it('replace one rule with a function of caller and target', () => {
    const own = policies({
      overrides: { 'os_compute_api:servers:delete': (testedCaller, target) => testedCaller.userId === target?.userId },
    });
    expect(own.allows('os_compute_api:servers:delete', caller(), ownTarget)).toBe(true);
    expect(own.allows('os_compute_api:servers:delete', caller('admin'), foreign)).toBe(false);
  });

  it('may refer to other rules, including overridden rules and functions', () => {
    const own = policies({
      overrides: {
        'os_compute_api:servers:stop': 'rule:os_compute_api:servers:start and not role:intern',
        'os_compute_api:servers:start': (testedCaller) => testedCaller.roles.includes('operator'),
      },
    });
    expect(own.allows('os_compute_api:servers:stop', caller('operator'))).toBe(true);
    expect(own.allows('os_compute_api:servers:stop', caller('operator', 'intern'))).toBe(false);
  });

  it("for the administrators' base rule apply to all operations", () => {
    const own = policies({ overrides: { context_is_admin: 'role:admin or role:cloud_admin' } });
    expect(own.allows('os_compute_api:os-hosts:list', caller('cloud_admin'))).toBe(true);
    expect(own.allows('os_compute_api:servers:show', caller('cloud_admin'), foreign)).toBe(true);
    const flagged = policies({
      overrides: { context_is_admin: 'role:root', 'os_compute_api:os-hosts:list': 'is_admin:True' },
    });
    expect(flagged.allows('os_compute_api:os-hosts:list', caller('root'))).toBe(true);
    expect(flagged.allows('os_compute_api:os-hosts:list', caller('admin'))).toBe(false);
  });

  it('appear in the list of rules', () => {
    const own = policies({
      overrides: { 'os_compute_api:limits': '!', 'os_compute_api:extensions': () => true },
    });
    const byName = new Map(own.rules().map((rule) => [rule.name, rule]));
    expect(byName.size).toBe(Object.keys(RULES).length);
    expect(byName.get('os_compute_api:limits')).toEqual({
      name: 'os_compute_api:limits',
      default: 'any',
      expression: '!',
      from: 'overrides',
    });
    expect(byName.get('os_compute_api:extensions')).toMatchObject({ expression: undefined, from: 'overrides' });
    expect(byName.get('os_compute_api:os-hosts:list')).toMatchObject({ from: 'default' });
  });

  it.each([
    [{ 'os_compute_api:servers:strat': '@' }, /unknown rule "os_compute_api:servers:strat"/],
    [{ 'os_compute_api:os-pause-server:puase': '@' }, /known: .*os_compute_api:os-pause-server:pause/],
    [{ toString: '@' }, /unknown rule "toString"/],
    [{ 'os_compute_api:limits': 'rule:nope' }, /"os_compute_api:limits" refers to an unknown rule "nope"/],
    [
      { 'os_compute_api:limits': 'role:a role:b' },
      /"os_compute_api:limits": expected .*, not a second check at column 8/,
    ],
    [{ 'os_compute_api:limits': 7 }, /must be an expression or a function/],
    [
      { 'os_compute_api:limits': 'rule:os_compute_api:limits' },
      /cycle: os_compute_api:limits -> os_compute_api:limits/,
    ],
    [{ context_is_admin: 'is_admin:True' }, /cycle/],
  ])('throw if they are invalid: %j', (overrides, message) => {
    const build = () => policies({ overrides: overrides as never });
    expect(build).toThrow(PolicyConfigError);
    expect(build).toThrow(message);
  });

  it('reject unknown options', () => {
    expect(() => policies({ override: {} } as never)).toThrow(/unknown option "override"/);
  });
});

describe('a policy file', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'policies-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const write = (text: string) => {
    const file = join(folder, 'policy');
    writeFileSync(file, text);
    return file;
  };

  it.each([
    ['JSON', '{"os_compute_api:limits": "role:a",\n "os_compute_api:extensions": ""}'],
    ['JSON on a single line', '{"os_compute_api:limits":"role:a","os_compute_api:extensions":""}'],
    ['lines', '# ours\n---\n\n"os_compute_api:limits": "role:a"  # why\n\'os_compute_api:extensions\': \'\'\n'],
    [
      'YAML on several lines',
      '"os_compute_api:limits":\n  role:a\n  and role:a\n? os_compute_api:extensions\n: \'\'\n',
    ],
    [
      'a folded block and an anchor',
      'os_compute_api:limits: >-\n  role:a\n  or role:a\nos_compute_api:extensions: &all ""\n',
    ],
    ['a flow mapping with an extra comma', '{"os_compute_api:limits": "role:a",\n os_compute_api:extensions: \'\', }'],
    ['lines without quotes', 'os_compute_api:limits: role:a # why\r\nos_compute_api:extensions: ""\r\n'],
  ])('can be written as %s', (_, text) => {
    const own = policies({ file: write(text) });
    expect(own.allows('os_compute_api:limits', caller('a'))).toBe(true);
    expect(own.allows('os_compute_api:limits', caller('admin'))).toBe(false);
    expect(own.allows('os_compute_api:extensions', caller())).toBe(true);
    expect(own.rules().filter((rule) => rule.from === 'file').length).toBe(2);
  });

  it.each(['', '{}', '# nothing\n', ' { } '])('may be empty: %j', (text) => {
    expect(policies({ file: write(text) }).rules()).toEqual(policies().rules());
  });

  it('has lower precedence than overrides in code', () => {
    const own = policies({
      file: write('{"os_compute_api:limits": "!"}'),
      overrides: { 'os_compute_api:limits': '@' },
    });
    expect(own.allows('os_compute_api:limits', caller())).toBe(true);
  });

  it.each([
    ['an unknown rule', '# a\n"os_compute_api:limit": "@"', 2, /unknown rule/],
    ['an unknown rule in JSON', '{\n"os_compute_api:limits": "@",\n"os_compute_api:limit": "@"}', 3, /unknown rule/],
    ['a syntax error', '\n\nos_compute_api:limits: role:a or', 3, /the end .* column 10/],
    ['a reference to an unknown rule', '"os_compute_api:limits": "rule:none"', 1, /unknown rule "none"/],
    ['a rule set twice', '"os_compute_api:limits": "@"\n"os_compute_api:limits": "!"', 2, /already set on line 1/],
    ['a line that is not an entry', '"os_compute_api:limits": "@"\n- a list', 2, /./],
    ['an indented line', 'rules:\n  os_compute_api:limits: "@"', 1, /unknown rule "rules"|must be an expression/],
    ['a missing expression', '"os_compute_api:limits":', 1, /write ""/],
    [
      'a cycle',
      '"os_compute_api:limits": "rule:os_compute_api:extensions"\n"os_compute_api:extensions": "rule:os_compute_api:limits"',
      2,
      /cycle/,
    ],
    ['a cycle through a default', 'project_reader_api: rule:os_compute_api:ips:show', 1, /cycle: project_reader_api/],
    ['broken JSON', '{\n"os_compute_api:limits": "@"\n"os_compute_api:extensions": "@"}', 3, /./],
    ['a list', '# a\n- "os_compute_api:limits"', 2, /expected lines like/],
    ['a single string', 'several words', 1, /expected lines like/],
    ['a value that is not a string', '{"os_compute_api:limits":\n ["@"]}', 1, /must be an expression in quotes/],
    ['text after the object', '{}\n{}', 2, /./],
    ['a bad escape', '{"os_compute_api:limits": "\\q"}', 1, /escape/],
  ])('throws with the line number if it is invalid: %s', (_, text, line, message) => {
    const file = write(text);
    try {
      policies({ file });
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(PolicyConfigError);
      expect(error).toMatchObject({ code: 'POLICY_CONFIG', file, line, message: expect.stringMatching(message) });
      expect((error as Error).message.startsWith(`${file}:${line}: `)).toBe(true);
    }
  });

  it('throws if it cannot be read', () => {
    expect(() => policies({ file: join(folder, 'absent') })).toThrow(/absent:1: the policy file cannot be read/);
  });
});
