import type { Call } from '../service/call.js';
import { Reply, type Route } from '../service/route.js';
import { notFound, ServiceError } from '../service/service-error.js';
import { NOT_FOUND_MESSAGE } from './placement-fault.js';
import { isAtLeast } from './placement-version.js';

/** The minor versions that introduced routes, by path or by method and path. Other routes have existed since 1.0. */
const FIRST_MINOR: Readonly<Record<string, number>> = {
  '/resource_providers/:id/aggregates': 1,
  '/resource_classes': 2,
  '/resource_classes/:name': 2,
  'delete /resource_providers/:id/inventories': 5,
  '/traits': 6,
  '/traits/:name': 6,
  '/resource_providers/:id/traits': 6,
  '/usages': 9,
  '/allocation_candidates': 10,
  'post /allocations': 13,
  '/reshaper': 30,
};

/** Sets `Last-Modified` and `Cache-Control: no-cache`, which version 1.15 added to responses with content. */
function setCacheHeaders(call: Call, method: Route['method'], result: unknown): void {
  const { status = 200, body } = result instanceof Reply ? result : new Reply(200, result);
  const hasContent =
    method === 'get' || (method === 'put' && call.req.path.startsWith('/traits/')) || body !== undefined;
  if (!hasContent || status >= 300 || !isAtLeast(call, 15)) return;
  call.res.setHeader('Last-Modified', new Date(call.cloud.clock.now()).toUTCString());
  call.res.setHeader('Cache-Control', 'no-cache');
}

/** Restricts a route to the versions that have it, and adds response headers. */
export function restrictToVersions(route: Route): Route {
  const { method, path } = route;
  const firstMinor = FIRST_MINOR[`${method} ${path}`] ?? FIRST_MINOR[path] ?? 0;
  return {
    ...route,
    async run(call) {
      if (!isAtLeast(call, firstMinor)) {
        // Before `firstMinor`, this path exists, but only with other methods.
        if (path.endsWith('/inventories')) throw new ServiceError(405, '');
        throw notFound(NOT_FOUND_MESSAGE);
      }
      const result = await route.run(call);
      setCacheHeaders(call, method, result);
      return result;
    },
  };
}
