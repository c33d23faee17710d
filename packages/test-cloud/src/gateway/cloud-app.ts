import type { RequestListener } from 'node:http';
import express, { type Request, type Response } from 'express';
import { controlRouter } from '../control/control-router.js';
import { identityService } from '../identity/identity.js';
import { imageService } from '../image/image.js';
import { networkService } from '../network/network.js';
import { docsPages } from '../page/docs-pages.js';
import { pageRouter } from '../page/page-router.js';
import { placementService } from '../placement/placement.js';
import type { CloudContext } from '../service/cloud-context.js';
import { singleSlashes } from '../service/single-slashes.js';
import type { ReadableDriver } from '../state/readable-driver.js';
import { volumeService } from '../volume/volume.js';
import type { CloudAppOptions } from './cloud-app-options.js';
import type { UnhandledRequests } from './unhandled-requests.js';

/** Returns the request handler of a cloud, which serves all services and the pages at one address. */
export function cloudApp(options: CloudAppOptions): RequestListener {
  const { content, directory, identifyCaller, clock, documents, unhandled, downloads, onError } = options;
  const cloud: CloudContext = {
    documents,
    directory,
    clock,
    identifyCaller,
    unhandled,
    downloads,
    simulated: true,
    onError,
    get engine() {
      return content().engine;
    },
    get catalogs() {
      return content().engine.embedded;
    },
  };
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', 'simple');
  app.use(singleSlashes);
  app.use('/compute', (req: Request, res: Response) => {
    recordUnhandled(req, res, unhandled);
    notifyDriverOfRead(req, res, content().driver);
    content().compute(req, res);
  });
  app.use('/identity', identityService(cloud));
  app.use('/image', imageService(cloud));
  app.use('/network', networkService(cloud));
  app.use('/volume', volumeService(cloud));
  app.use('/placement', placementService(cloud));
  if (options.control) app.use('/_control', controlRouter(options.control, options.rules));
  app.use('/docs', docsPages(directory, options.maxVersion));
  app.use('/', pageRouter(options));
  app.use('/_control', (_req: Request, res: Response) => {
    res.status(404).json({ error: { code: 404, message: 'The control API of this cloud is disabled.' } });
  });
  app.use((req: Request, res: Response) => {
    unhandled.note('', req.method, req.originalUrl);
    res
      .status(501)
      .json({ error: { code: 501, title: 'Not Implemented', message: 'This test cloud does not have this service.' } });
  });
  return app;
}

/** Notifies the driver when a client reads the states of servers, so that transient states can end. */
function notifyDriverOfRead(req: Request, res: Response, driver: ReadableDriver): void {
  if (req.method !== 'GET') return;
  const [, name] = /\/servers\/([^/?]+)(?:\?|$)/.exec(req.url) ?? [];
  if (name !== undefined) res.once('finish', driver.beginRead(name === 'detail' ? undefined : name));
}

/**
 * Records requests for paths that the compute API does not serve. Their 404 responses have no version header, unlike
 * those for unknown resources.
 */
function recordUnhandled(req: Request, res: Response, unhandled: UnhandledRequests): void {
  const { method, originalUrl } = req;
  res.once('finish', () => {
    const isUnknownPath = res.statusCode === 404 && !res.hasHeader('openstack-api-version');
    if (isUnknownPath && /\/v2(\.1)?\/./.test(originalUrl)) unhandled.note('compute', method, originalUrl);
  });
}
