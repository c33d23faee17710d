import type { Call } from '../service/call.js';
import type { Route } from '../service/route.js';
import { badRequest, ServiceError } from '../service/service-error.js';
import { isAtLeast } from './placement-version.js';

const JSON_TYPE = 'application/json';

/** Returns whether the route of a request reads a body, which must be JSON. */
function readsBody({ method, path }: Route, call: Call): boolean {
  if (path === '/traits/:name' || (path === '/resource_classes/:name' && isAtLeast(call, 7))) return false;
  return method === 'post' || method === 'put';
}

/** Wraps a route so that it first rejects bodies that are not JSON, and clients that do not accept JSON. */
export function requireJson(route: Route): Route {
  return {
    ...route,
    run(call) {
      const type = call.req.header('content-type');
      if (type === undefined && Number(call.req.header('content-length') ?? 0) > 0)
        throw badRequest('content-type header required when content-length > 0');
      const mediaType = type?.split(';')[0]?.trim().toLowerCase();
      if (readsBody(route, call) && mediaType !== JSON_TYPE)
        throw new ServiceError(415, `The media type ${mediaType ?? 'None'} is not supported, use ${JSON_TYPE}`);
      if (route.method === 'get' && route.path !== '/traits/:name' && !call.req.accepts(JSON_TYPE))
        throw new ServiceError(406, `Only ${JSON_TYPE} is provided`);
      return route.run(call);
    },
  };
}
