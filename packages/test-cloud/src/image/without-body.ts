import type { Route } from '../service/route.js';
import { badRequest } from '../service/service-error.js';

/** Wraps a route so that it rejects requests with a body. */
export function withoutBody(route: Route): Route {
  return {
    ...route,
    run: (call) => {
      const { 'content-length': length = 0, 'transfer-encoding': encoding } = call.req.headers;
      if (Number(length) > 0 || encoding !== undefined) throw badRequest('A body is not expected with this request.');
      return route.run(call);
    },
  };
}
