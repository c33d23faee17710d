import type { Route } from '../service/route.js';
import { requireMinor } from './volume-style.js';

/** The minor versions that introduced paths below `/v3/`. Other paths have existed since 3.0. */
const FIRST_MINOR_BY_PATH: Readonly<Record<string, number>> = {
  messages: 3,
  clusters: 7,
  manageable_snapshots: 8,
  manageable_volumes: 8,
  group_types: 11,
  groups: 13,
  group_snapshots: 14,
  workers: 24,
  attachments: 27,
  resource_filters: 33,
  'default-types': 62,
};

/** The minor versions that added routes below existing paths. */
const FIRST_MINOR_BY_ROUTE: Readonly<Record<string, number>> = {
  'get /v3/volumes/summary': 12,
  'put /v3/backups/:id': 9,
};

/** Restricts a route to the versions that have it. In earlier versions, the route returns 404. */
export function restrictToVersions(route: Route): Route {
  const { method, path, run } = route;
  const firstMinor = FIRST_MINOR_BY_ROUTE[`${method} ${path}`] ?? FIRST_MINOR_BY_PATH[path.split('/')[2] ?? ''];
  if (firstMinor === undefined) return route;
  return {
    ...route,
    run(call) {
      requireMinor(call, firstMinor);
      return run(call);
    },
  };
}
