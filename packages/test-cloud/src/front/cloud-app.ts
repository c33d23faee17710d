import type { RequestListener } from 'node:http';
import express, { type NextFunction, type Request, type Response } from 'express';
import type { CloudClock } from '../clock/cloud-clock.js';
import { type Controlled, controlRouter } from '../control/control-router.js';
import type { Directory } from '../identity/directory.js';
import { identityService } from '../identity/identity.js';
import { imageService } from '../image/image.js';
import { networkService } from '../network/network.js';
import { docsPages } from '../page/docs-pages.js';
import { pageRouter } from '../page/page-router.js';
import { placementService } from '../placement/placement.js';
import type { CloudContext } from '../service/cloud-context.js';
import type { Documents } from '../service/documents.js';
import type { WhoCalls } from '../service/stand-in.js';
import type { ReadableDriver } from '../state/readable-driver.js';
import type { World } from '../state/world.js';
import { volumeService } from '../volume/volume.js';
import type { Journal } from './journal.js';
import type { RuleBook } from './rule-book.js';
import type { Unserved } from './unserved.js';

export interface CloudAppOptions {
  readonly world: () => World;
  readonly directory: Directory;
  readonly whoCalls: WhoCalls;
  readonly clock: CloudClock;
  readonly journal: Journal;
  readonly unserved: Unserved;
  readonly documents: Documents;
  readonly rules: RuleBook;
  readonly onError: (error: unknown) => void;
  /** Highest compute microversion, for the documents; default that of the API. */
  readonly maxVersion: string | undefined;
  /** The cloud, where `/_control` is on. */
  readonly control: Controlled | undefined;
}

/** All services below one address, and the cloud's own pages. */
export function cloudApp(options: CloudAppOptions): RequestListener {
  const { world, directory, whoCalls, clock, documents, unserved, onError } = options;
  const cloud: CloudContext = {
    documents,
    directory,
    clock,
    whoCalls,
    unserved,
    onError,
    get engine() {
      return world().engine;
    },
    get catalogs() {
      return world().engine.embedded;
    },
  };
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', 'simple');
  app.use((req: Request, _res: Response, next: NextFunction) => {
    // Clients that join addresses carelessly write more slashes than one.
    const mark = req.url.search(/[?#]|$/);
    req.url = req.url.slice(0, mark).replaceAll(/\/{2,}/g, '/') + req.url.slice(mark);
    next();
  });
  app.use('/compute', (req: Request, res: Response) => {
    noteUnserved(req, res, unserved);
    noteReading(req, res, world().driver);
    world().compute(req, res);
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
    res.status(404).json({ error: { code: 404, message: 'This test cloud was started without control.' } });
  });
  app.use((req: Request, res: Response) => {
    unserved.note('', req.method, req.originalUrl);
    res
      .status(501)
      .json({ error: { code: 501, title: 'Not Implemented', message: 'This test cloud has no such service.' } });
  });
  return app;
}

/** Who reads servers sees the states they are in. */
function noteReading(req: Request, res: Response, driver: ReadableDriver): void {
  if (req.method !== 'GET') return;
  const [, name] = /\/servers\/([^/?]+)(?:\?|$)/.exec(req.url) ?? [];
  if (name !== undefined) res.once('finish', driver.reading(name === 'detail' ? undefined : name));
}

/** The compute API has no route at all for a path: its own 404 in the generic form, not that of a missing thing. */
function noteUnserved(req: Request, res: Response, unserved: Unserved): void {
  const { method, originalUrl } = req;
  res.once('finish', () => {
    const generic = res.statusCode === 404 && !res.hasHeader('openstack-api-version');
    if (generic && /\/v2(\.1)?\/./.test(originalUrl)) unserved.note('compute', method, originalUrl);
  });
}
