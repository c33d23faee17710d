import { microversion } from '@apistrata/microversion';
import { defineService } from '../service/fake-service.js';
import { openGet, type Route } from '../service/route.js';
import { allocationRoutes } from './allocation-routes.js';
import { inventoryRoutes } from './inventory-routes.js';
import { requireJson } from './media-types.js';
import { nameRoutes } from './name-routes.js';
import { formatPlacementFault, fromParserError } from './placement-fault.js';
import { restrictToRoles } from './placement-policy.js';
import { MAX_VERSION, MIN_VERSION } from './placement-version.js';
import { providerRoutes } from './provider-routes.js';
import { reshaperRoutes } from './reshaper-routes.js';
import { restrictToVersions } from './route-windows.js';

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

/** Returns the routes of the placement service. */
export const placementRoutes = (): readonly Route[] => [
  restrictToVersions(openGet('/', versions)),
  ...[providerRoutes, inventoryRoutes, nameRoutes, allocationRoutes, reshaperRoutes]
    .flatMap((routes) => routes())
    .map(restrictToRoles)
    .map(requireJson)
    .map(restrictToVersions),
];

/** The placement service, whose resource providers are the compute hosts and the providers that clients create. */
export const placementService = defineService({
  name: 'placement',
  types: ['placement'],
  rejectsMethods: true,
  omitsCharset: true,
  // Allocations of any consumer change the free capacity and the generation of their providers.
  serializesChanges: true,
  before: () =>
    microversion({
      service: 'placement',
      min: MIN_VERSION,
      max: MAX_VERSION,
      headerStyle: 'generic',
      headers: { typed: ['openstack-api-version'] },
      errors: 'next',
    }),
  routes: placementRoutes,
  fault: formatPlacementFault,
  fromParserError,
});
