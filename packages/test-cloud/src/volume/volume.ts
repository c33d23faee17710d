import { microversion } from '@apistrata/microversion';
import { defineService } from '../service/fake-service.js';
import { Resource, type ResourceSpec } from '../service/resource.js';
import { resourceRoutes } from '../service/resource-routes.js';
import type { Route } from '../service/route.js';
import { attachmentRoutes } from './attachment-routes.js';
import { backups } from './backups.js';
import { groupResources } from './groups.js';
import { hostRoutes } from './host-routes.js';
import { messages } from './messages.js';
import { qosSpecs } from './qos-specs.js';
import { quotaRoutes } from './quota-routes.js';
import { restrictToVersions } from './route-windows.js';
import { MAX_VERSION, MIN_VERSION, volumeServiceRoutes } from './service-routes.js';
import { snapshots } from './snapshots.js';
import { transferResources } from './transfers.js';
import { volumeActionRoute } from './volume-actions.js';
import { volumeStyle } from './volume-style.js';
import { volumeTypes } from './volume-types.js';
import { volumes } from './volumes.js';

const FAULTS: Readonly<Record<number, string>> = {
  400: 'badRequest',
  403: 'forbidden',
  404: 'itemNotFound',
  409: 'conflictingRequest',
  413: 'overLimit',
  501: 'notImplemented',
};

/** Matches the project id after the version in the path. The id is ignored: the token determines the project. */
const PROJECT_IN_PATH = /^\/v3\/[0-9a-f]{32}(?=\/|\?|$)/;

const RESOURCES: readonly ResourceSpec[] = [
  volumes,
  snapshots,
  volumeTypes,
  qosSpecs,
  ...groupResources,
  backups,
  ...transferResources,
  messages,
];

/** Returns the routes of the volume service. */
export const volumeRoutes = (): readonly Route[] =>
  [
    ...volumeServiceRoutes(),
    ...hostRoutes(),
    ...quotaRoutes(),
    volumeActionRoute(),
    ...attachmentRoutes(),
    ...RESOURCES.flatMap((spec) => resourceRoutes(new Resource(volumeStyle, spec))),
  ].map(restrictToVersions);

const VERSION_HEADER = 'openstack-api-version';
/** Matches the service type in the version header. Like Cinder, accepts types that contain `volume`: `volumev3 3.27`. */
const SERVICE_TYPE = /\S*volume\S*(?=\s)/;

/** The volume service, version 3. Servers attach volumes from the same catalog. */
export const volumeService = defineService({
  name: 'volume',
  types: ['volumev3', 'block-storage'],
  strict: true,
  before: () => {
    const negotiate = microversion({
      service: 'volume',
      min: MIN_VERSION,
      max: MAX_VERSION,
      headers: { typed: ['OpenStack-API-Version'] },
    });
    return (req, res, next) => {
      req.url = req.url.replace(PROJECT_IN_PATH, '/v3');
      const requestedVersions = req.headers[VERSION_HEADER];
      if (typeof requestedVersions === 'string')
        req.headers[VERSION_HEADER] = requestedVersions.replace(SERVICE_TYPE, 'volume');
      negotiate(req, res, next);
    };
  },
  routes: volumeRoutes,
  fault: ({ status, message }) => ({ [FAULTS[status] ?? 'computeFault']: { code: status, message } }),
});
