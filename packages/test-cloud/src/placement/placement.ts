import { STATUS_CODES } from 'node:http';
import { microversion } from '@apistrata/microversion';
import type { Call } from '../service/call.js';
import { fakeService } from '../service/fake-service.js';
import { openGet, type Route } from '../service/route.js';
import { allocationRoutes } from './allocation-routes.js';
import { inventoryRoutes } from './inventory-routes.js';
import { nameRoutes } from './name-routes.js';
import { MAX_VERSION, MIN_VERSION } from './placement-version.js';
import { providerRoutes } from './provider-routes.js';
import { reshaperRoutes } from './reshaper-routes.js';
import { windowed } from './route-windows.js';

const versions = () => ({
  versions: [
    {
      id: 'v1.0',
      status: 'CURRENT',
      min_version: MIN_VERSION,
      max_version: MAX_VERSION,
      links: [{ rel: 'self', href: '' }],
    },
  ],
});

/** Restricts a route to administrators, except for the usage of the caller's own project. */
function forAdmins({ run, ...route }: Route): Route {
  return {
    ...route,
    run(call: Call) {
      if (route.path !== '/usages' || call.text('project_id') !== call.caller.projectId) call.requireAdmin();
      return run(call);
    },
  };
}

/** The placement service: the compute hosts with their inventories, and the providers that clients create. */
export const placementService = fakeService({
  name: 'placement',
  rejectsMethods: true,
  before: () =>
    microversion({
      service: 'placement',
      min: MIN_VERSION,
      max: MAX_VERSION,
      headers: { typed: ['OpenStack-API-Version'] },
    }),
  routes: () => [
    openGet('/', versions),
    ...[providerRoutes, inventoryRoutes, nameRoutes, allocationRoutes, reshaperRoutes]
      .flatMap((routes) => routes())
      .map(forAdmins)
      .map(windowed),
  ],
  fault: ({ status, message, type }) => ({
    errors: [
      {
        status,
        title: STATUS_CODES[status],
        detail: message,
        code: type.startsWith('placement.') ? type : 'placement.undefined_code',
      },
    ],
  }),
});
