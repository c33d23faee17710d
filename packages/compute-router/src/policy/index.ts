export type { BaseRuleName } from './base-rules.js';
export type { PolicyCheck, Target } from './check.js';
export { INCLUDING_ROLES } from './including-roles.js';
export { type Policies, type PoliciesOptions, type PolicyOverride, type PolicyRule, policies } from './policies.js';
export { PolicyConfigError, PolicyDenied, PolicySyntaxError } from './policy-errors.js';
export type { DefaultBaseRule, RuleName } from './rules.js';
