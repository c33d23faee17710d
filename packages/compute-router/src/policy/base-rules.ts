/**
 * Base rules that other rules refer to. Like any rule, they can be overridden; this affects all rules that refer to
 * them. For example, `context_is_admin` defines who is an administrator for all operations. Existing policy files use
 * these names, and rules.ts uses them as defaults.
 */
export const BASE_RULES = {
  any: '@',
  nobody: '!',
  context_is_admin: 'role:admin',
  admin_api: 'rule:context_is_admin',
  admin: 'rule:context_is_admin',
  admin_or_owner: 'rule:context_is_admin or project_id:%(project_id)s',
  service_api: 'role:service',
  service_or_admin: 'rule:service_api or rule:context_is_admin',
  same_user: 'user_id:%(user_id)s',
  'admin or same_user': 'rule:context_is_admin or rule:same_user',
  project_reader_api: 'role:reader and project_id:%(project_id)s',
  project_member_api: 'role:member and project_id:%(project_id)s',
  project_manager_api: 'role:manager and project_id:%(project_id)s',
  project_reader_or_admin: 'rule:project_reader_api or rule:context_is_admin',
  project_member_or_admin: 'rule:project_member_api or rule:context_is_admin',
  project_manager_or_admin: 'rule:project_manager_api or rule:context_is_admin',
} as const satisfies Readonly<Record<string, string>>;

/** The name of a base rule. */
export type BaseRuleName = keyof typeof BASE_RULES;
