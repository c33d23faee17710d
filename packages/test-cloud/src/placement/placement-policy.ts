import type { Call } from '../service/call.js';
import type { Route } from '../service/route.js';
import { forbidden } from '../service/service-error.js';

/** Roles of a project that may call a route, by path; default: {@link ADMINISTRATION}. */
const ROLES: Readonly<Record<string, readonly string[]>> = { '/reshaper': ['service'] };
const ADMINISTRATION = ['admin', 'service'];

/** Returns whether a reader of a project requests the usage of this project. */
const isOwnUsage = ({ path }: Route, { caller, query }: Call) =>
  path === '/usages' && caller.roles.includes('reader') && query.get('project_id') === caller.projectId;

/** Restricts a route to the roles of its policy. Tokens with the system scope have no access. */
export function restricted(route: Route): Route {
  const roles = ROLES[route.path] ?? ADMINISTRATION;
  return {
    ...route,
    run(call) {
      const { caller } = call;
      const isAllowed = caller.roles.some((role) => roles.includes(role)) || isOwnUsage(route, call);
      if (caller.systemScope || !isAllowed) throw forbidden('You are not authorized to perform the requested action.');
      return route.run(call);
    },
  };
}
