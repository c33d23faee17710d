import type { Route } from '../service/route.js';
import { notFound } from '../service/service-error.js';
import { minorOf } from './volume-style.js';

/** The first minor versions of the paths below `/v3/`. Other paths exist since 3.0. */
const FIRST_MINOR: Readonly<Record<string, number>> = {
  messages: 3,
  clusters: 7,
  manageable_snapshots: 8,
  manageable_volumes: 8,
  group_types: 11,
  groups: 13,
  group_snapshots: 14,
  attachments: 27,
  resource_filters: 33,
  'volume-transfers': 55,
  'default-types': 62,
};

/** Restricts a route to its window: it returns 404 in earlier versions. */
export function windowed(route: Route): Route {
  const first = FIRST_MINOR[route.path.split('/')[2] ?? ''];
  if (first === undefined) return route;
  return {
    ...route,
    run(call) {
      const minor = minorOf(call);
      if (minor < first) throw notFound(`API version 3.${minor} is not supported on this method.`);
      return route.run(call);
    },
  };
}
