import type { Clock, EmbeddedCatalogs } from '@apistrata/compute-engine';
import { microversion } from '@apistrata/microversion';
import type { NextFunction, Request, Response } from 'express';
import { standIn } from '../service/stand-in.js';
import { attachmentRoutes } from './attachment-routes.js';
import { MAX_VERSION, MIN_VERSION, volumeServiceRoutes } from './service-routes.js';
import { snapshotRoutes } from './snapshot-routes.js';
import { typeRoutes } from './type-routes.js';
import { volumeActionRoutes } from './volume-actions.js';
import { volumeRoutes } from './volume-routes.js';

const FAULTS: Readonly<Record<number, string>> = {
  400: 'badRequest',
  403: 'forbidden',
  404: 'itemNotFound',
  409: 'conflictingRequest',
  413: 'overLimit',
  501: 'notImplemented',
};

/** A project's id may stand behind the version; the token says whose it is. */
const PROJECT = /^\/v3\/[0-9a-f]{32}(?=\/|\?|$)/;

/** The volume service, version 3, on the catalog that servers attach volumes from. */
export function volumeService(
  catalogs: () => EmbeddedCatalogs,
  limits: () => Map<string, Record<string, number>>,
  clock: Clock,
) {
  const volumes = () => catalogs().volumes;
  const negotiate = microversion({
    service: 'volume',
    min: MIN_VERSION,
    max: MAX_VERSION,
    headers: { typed: ['OpenStack-API-Version'] },
  });
  return standIn({
    name: 'volume',
    before: () => (req: Request, res: Response, next: NextFunction) => {
      req.url = req.url.replace(PROJECT, '/v3');
      negotiate(req, res, next);
    },
    routes: () => [
      ...volumeServiceRoutes(volumes, limits, () => clock.now()),
      ...volumeActionRoutes(catalogs),
      ...volumeRoutes(volumes),
      ...snapshotRoutes(volumes),
      ...typeRoutes(volumes),
      ...attachmentRoutes(volumes),
    ],
    fault: ({ status, message }) => ({ [FAULTS[status] ?? 'computeFault']: { code: status, message } }),
  });
}
