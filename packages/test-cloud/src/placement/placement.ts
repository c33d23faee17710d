import { STATUS_CODES } from 'node:http';
import { microversion } from '@apistrata/microversion';
import type { Call } from '../service/call.js';
import { openGet, type Route } from '../service/route.js';
import { standIn } from '../service/stand-in.js';
import { allocationRoutes } from './allocation-routes.js';
import { inventoryRoutes } from './inventory-routes.js';
import { nameRoutes } from './name-routes.js';
import { MAX_VERSION, MIN_VERSION } from './placement-version.js';
import { providerRoutes } from './provider-routes.js';

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

/** All of this is for administrators, except that everybody may ask what its own project uses. */
function forAdmins({ run, ...route }: Route): Route {
  return {
    ...route,
    run(call: Call) {
      if (route.path !== '/usages' || call.text('project_id') !== call.caller.projectId) call.requireAdmin();
      return run(call);
    },
  };
}

/** The placement service: the hosts and what they offer, and whatever else somebody tells it of. */
export const placementService = standIn({
  name: 'placement',
  before: () =>
    microversion({
      service: 'placement',
      min: MIN_VERSION,
      max: MAX_VERSION,
      headers: { typed: ['OpenStack-API-Version'] },
    }),
  routes: () => [
    openGet('/', versions),
    ...[...providerRoutes(), ...inventoryRoutes(), ...nameRoutes(), ...allocationRoutes()].map(forAdmins),
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
