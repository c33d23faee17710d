import type { Call } from '../service/call.js';
import type { Route } from '../service/route.js';
import { forbidden } from '../service/service-error.js';

/** The project roles that may call a route, by path; default: administrators and services. */
const ROLES: Readonly<Record<string, readonly string[]>> = { '/reshaper': ['service'] };
const ADMIN_ROLES = ['admin', 'service'];

/** The policy names that do not follow from the route's method and path. */
const POLICIES: Readonly<Record<string, string>> = {
  'get /resource_providers/:id/usages': 'resource_providers:usages',
  'get /usages': 'usages',
  'get /allocations/:consumer': 'allocations:list',
  'post /allocations': 'allocations:manage',
  'post /reshaper': 'reshaper:reshape',
};
const POLICY_VERBS: Readonly<Record<string, string>> = { post: 'create', put: 'update', delete: 'delete' };

/** Returns the name of a route's policy, such as `placement:resource_providers:list`. */
function policyNameOf({ method, path }: Route): string {
  const parts = path.split('/').filter((part) => part !== '' && !part.startsWith(':'));
  const verb = POLICY_VERBS[method] ?? (/:\w+$/.test(path) ? 'show' : 'list');
  return `placement:${POLICIES[`${method} ${path}`] ?? [...parts, verb].join(':')}`;
}

/** Returns whether the caller is a reader of a project and requests the usage of this project. */
const isOwnUsage = ({ path }: Route, { caller, query }: Call) =>
  path === '/usages' && caller.roles.includes('reader') && query.get('project_id') === caller.projectId;

/** Restricts a route to the roles of its policy. System-scoped tokens have no access. */
export function restrictToRoles(route: Route): Route {
  const roles = ROLES[route.path] ?? ADMIN_ROLES;
  const policy = policyNameOf(route);
  return {
    ...route,
    run(call) {
      const { caller } = call;
      const isAllowed = caller.roles.some((role) => roles.includes(role)) || isOwnUsage(route, call);
      // For system-scoped tokens, Placement's error message is only the policy name.
      if (caller.systemScope) throw forbidden(policy);
      if (!isAllowed) throw forbidden(`Policy does not allow ${policy} to be performed.`);
      return route.run(call);
    },
  };
}
