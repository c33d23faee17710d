import { readFileSync } from 'node:fs';
import type { Caller } from '@apistrata/compute-engine';
import { checkOptions } from '@apistrata/compute-engine/api';
import { BASE_RULES, type BaseRuleName } from './base-rules.js';
import { compileExpression, type PolicyCheck, type Target } from './check.js';
import { parseExpression } from './expression.js';
import { PolicyConfigError, PolicyDenied, type PolicySource, PolicySyntaxError } from './policy-errors.js';
import { parsePolicyFile } from './policy-file.js';
import { type DefaultBaseRule, RULES, type RuleName } from './rules.js';

/** A custom definition of a policy rule: an expression, or a function that returns whether access is allowed. */
export type PolicyOverride = string | PolicyCheck;

/** Options for `policies()`: rules that replace default rules. */
export interface PoliciesOptions {
  /** Custom definitions by rule or base rule. They take precedence over the policy file. */
  readonly overrides?: Readonly<Partial<Record<RuleName | BaseRuleName, PolicyOverride>>>;
  /**
   * Path of a policy file: a YAML mapping or JSON object whose keys are rule names and whose values are expressions. It
   * is read when the policies are created, and by `reload()`.
   */
  readonly file?: string;
}

/** A policy rule with its effective definition. */
export interface PolicyRule {
  readonly name: RuleName;
  readonly default: DefaultBaseRule;
  /** The effective expression, or undefined if the rule is a function. */
  readonly expression: string | undefined;
  readonly from: 'default' | 'file' | 'overrides';
}

/** The policy rules in force. */
export interface Policies {
  /**
   * Returns whether a rule allows the caller to access the target. Default target: the caller's own project and user.
   * If the target lacks a field, checks of this field do not match any caller.
   */
  allows(rule: RuleName, caller: Caller, target?: Target): boolean;
  /**
   * Returns whether the rule `context_is_admin` matches the caller. If it does, the caller is an administrator for all
   * operations.
   */
  isAdmin(caller: Caller): boolean;
  /**
   * Enforces a rule. Default target: the caller's own project and user.
   *
   * @throws PolicyDenied (403) if the rule does not allow the caller to access the target
   */
  enforce(rule: RuleName, caller: Caller, target?: Target): void;
  /** Returns all rules, sorted by name. */
  rules(): readonly PolicyRule[];
  /**
   * Reads the policy file again, or applies new options. All later requests use the result.
   *
   * @throws PolicyConfigError in the same cases as `policies()`; the previous rules then stay in force
   */
  reload(changed?: PoliciesOptions): void;
}

interface Definition {
  readonly check: PolicyOverride;
  readonly from: PolicyRule['from'];
  readonly source: PolicySource;
}

const KNOWN_OPTIONS: Readonly<Record<keyof PoliciesOptions, true>> = { overrides: true, file: true };

/**
 * Creates the compute API's policies: the default rules, with the changes that the policy file and the overrides
 * define.
 *
 * @throws PolicyConfigError with file and line, if the file cannot be read, a rule is unknown, an expression is
 * malformed or rules refer to each other in a cycle
 */
export function policies(options: PoliciesOptions = {}): Policies {
  let definitions = definitionsOf(options);
  let checks = compileRules(definitions);

  function allows(rule: RuleName | BaseRuleName, caller: Caller, target?: Target): boolean {
    const check = checks.get(rule);
    if (check === undefined) throw new TypeError(`unknown policy rule "${rule}"`);
    return check(caller, target);
  }

  return {
    allows,
    isAdmin: (caller) => allows('context_is_admin', caller),
    enforce(rule, caller, target) {
      if (!allows(rule, caller, target)) throw new PolicyDenied(rule);
    },
    rules: () =>
      (Object.keys(RULES) as RuleName[]).map((name) => {
        const { check, from } = definitionOf(definitions, name);
        return { name, default: RULES[name], expression: typeof check === 'string' ? check : undefined, from };
      }),
    reload(changed = options) {
      const changedDefinitions = definitionsOf(changed);
      checks = compileRules(changedDefinitions);
      definitions = changedDefinitions;
    },
  };
}

function definitionOf(definitions: ReadonlyMap<string, Definition>, name: string): Definition {
  const definition = definitions.get(name);
  if (definition === undefined) throw new TypeError(`unknown policy rule "${name}"`);
  return definition;
}

/**
 * Returns the definitions of all rules. Overrides take precedence over the policy file, which takes precedence over the
 * defaults.
 */
function definitionsOf(options: PoliciesOptions): ReadonlyMap<string, Definition> {
  checkOptions('policies()', options, KNOWN_OPTIONS);
  const { overrides = {}, file } = options;
  const definitions = new Map<string, Definition>();
  for (const [name, check] of Object.entries(BASE_RULES)) definitions.set(name, { check, from: 'default', source: {} });
  for (const [name, baseRule] of Object.entries(RULES)) {
    definitions.set(name, { check: BASE_RULES[baseRule], from: 'default', source: {} });
  }

  function override(name: string, check: unknown, from: 'file' | 'overrides', source: PolicySource): void {
    if (!definitions.has(name)) throw new PolicyConfigError(describeUnknownRule(name, definitions.keys()), source);
    if (typeof check !== 'string' && typeof check !== 'function') {
      throw new PolicyConfigError(`"${name}" must be an expression or a function`, source);
    }
    definitions.set(name, { check: check as PolicyOverride, from, source });
  }

  if (file !== undefined) {
    for (const { rule, expression, line } of parsePolicyFile(readPolicyFile(file), file)) {
      override(rule, expression, 'file', { file, line });
    }
  }
  for (const [name, check] of Object.entries(overrides)) override(name, check, 'overrides', {});
  return definitions;
}

function compileRules(definitions: ReadonlyMap<string, Definition>): ReadonlyMap<string, PolicyCheck> {
  const compiledRules = new Map<string, PolicyCheck>();
  const namesInProgress = new Set<string>();

  function checkOf(name: string): PolicyCheck {
    const cached = compiledRules.get(name);
    if (cached) return cached;
    if (namesInProgress.has(name)) throw circularReference(name);
    const { check, source } = definitionOf(definitions, name);
    namesInProgress.add(name);
    const policyCheck = typeof check === 'function' ? check : compile(name, check, source);
    namesInProgress.delete(name);
    compiledRules.set(name, policyCheck);
    return policyCheck;
  }

  /**
   * Creates the error for a reference cycle. Its source is a rule from the file or the overrides, because the defaults
   * do not have cycles.
   */
  function circularReference(name: string): PolicyConfigError {
    const path = [...namesInProgress].slice([...namesInProgress].indexOf(name));
    const configured = path.map((rule) => definitionOf(definitions, rule)).find(({ from }) => from !== 'default');
    const cycle = [...path, name].join(' -> ');
    return new PolicyConfigError(`rules refer to each other in a cycle: ${cycle}`, configured?.source);
  }

  function compile(name: string, text: string, source: PolicySource): PolicyCheck {
    try {
      return compileExpression(parseExpression(text), (other) => {
        if (definitions.has(other)) return checkOf(other);
        throw new PolicyConfigError(`"${name}" refers to ${describeUnknownRule(other, definitions.keys())}`, source);
      });
    } catch (error) {
      if (!(error instanceof PolicySyntaxError)) throw error;
      throw new PolicyConfigError(`"${name}": ${error.message}`, source, error);
    }
  }

  for (const name of definitions.keys()) checkOf(name);
  return compiledRules;
}

function readPolicyFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new PolicyConfigError(`the policy file cannot be read: ${(cause as Error).message}`, { file }, cause);
  }
}

/** Describes an unknown rule and lists known rules for the same resource or with the same last segment. */
function describeUnknownRule(name: string, knownNames: Iterable<string>): string {
  const parts = name.split(':');
  const similarNames = [...knownNames].filter((other) => {
    const otherParts = other.split(':');
    return (
      parts.length > 1 && otherParts.length > 1 && (otherParts[1] === parts[1] || otherParts.at(-1) === parts.at(-1))
    );
  });
  const hint =
    similarNames.length === 0 || similarNames.length > 8
      ? 'all rules are listed in docs/policies.md'
      : `known: ${similarNames.join(', ')}`;
  return `an unknown rule "${name}" (${hint})`;
}
