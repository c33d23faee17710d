import type { IncomingMessage } from 'node:http';
import type { Caller } from '@apistrata/compute-engine';
import { CatalogError } from '@apistrata/compute-engine/catalogs';
import { requestId } from '@apistrata/request-id';
import { type NextFunction, type Request, type RequestHandler, type Response, Router } from 'express';
import { Call } from './call.js';
import type { CloudContext } from './cloud-context.js';
import { readJson } from './read-json.js';
import { Reply, type Route } from './route.js';
import { notFound, ServiceError } from './service-error.js';

/** Who is calling, by the tokens of the request; undefined without a valid one. */
export type WhoCalls = (req: IncomingMessage) => Caller | undefined;

export interface StandInOptions {
  readonly name: string;
  /** Called once, on the first request. */
  readonly routes: () => readonly Route[];
  /** The body of an error, in the form of this service: JSON, or a {@link TextBody}. */
  readonly fault: (error: ServiceError, req: Request) => unknown;
  /** What comes before the routes, such as the negotiation of versions. Called once, on the first request. */
  readonly before?: () => RequestHandler;
  /** A slash at the end makes another path, as in services that match paths to the letter. */
  readonly strict?: true;
  /** The type of the error for an unknown path; default `NotFound`. */
  readonly unknownPathType?: string;
}

/** An error that is no JSON. */
export class TextBody {
  constructor(
    readonly type: string,
    readonly text: string,
  ) {}
}

const JSON_TYPES = [
  'application/json',
  'application/openstack-images-v2.1-json-patch',
  'application/openstack-images-v2.0-json-patch',
];

/** What the token filter in front of every service says to a request without a valid token. */
function answerUnauthorized(req: Request, res: Response): void {
  const base = `${req.protocol}://${req.headers.host}/identity`;
  const error = { code: 401, title: 'Unauthorized', message: 'The request you have made requires authentication.' };
  res.status(401).set('WWW-Authenticate', `Keystone uri="${base}"`).json({ error });
}

/** The error as the caller may read it. */
function readable(error: unknown): ServiceError | undefined {
  if (error instanceof ServiceError) return error;
  if (error instanceof CatalogError) return new ServiceError(error.status, error.message, camel(error.code));
  const { status, expose, message } = error as { status?: unknown; expose?: unknown; message?: unknown };
  // What Express's own body parser refuses.
  if (typeof status === 'number' && status < 500 && expose) return new ServiceError(status, String(message));
  return undefined;
}

/** `PORT_NOT_FOUND` as services spell it: `PortNotFound`. */
function camel(code: string): string {
  return code.replaceAll(/([A-Z])([A-Z]*)_?/g, (_, first: string, rest: string) => first + rest.toLowerCase());
}

function send(res: Response, result: unknown): void {
  if (result === undefined) return;
  const { status, body, headers } = result instanceof Reply ? result : new Reply(200, result);
  res.status(status).set(headers);
  if (body === undefined) res.end();
  else res.json(body);
}

const cloudOf = (res: Response) => res.locals.cloud as CloudContext;

function routerOf({ name, routes, fault, before, strict, unknownPathType }: StandInOptions): Router {
  const router = Router({ caseSensitive: true, strict });
  router.use(requestId({ preset: 'openstack', headers: ['X-OpenStack-Request-ID'] }));
  if (before) router.use(before());
  router.use(readJson(JSON_TYPES));
  for (const { method, path, open, run } of routes()) {
    router[method](path, async (req: Request, res: Response) => {
      const cloud = cloudOf(res);
      const caller = cloud.whoCalls(req);
      if (!open && !caller) answerUnauthorized(req, res);
      else send(res, await run(new Call(req, res, cloud, caller)));
    });
  }
  router.use((req: Request, res: Response) => {
    const { whoCalls, unserved } = cloudOf(res);
    if (!whoCalls(req)) return answerUnauthorized(req, res);
    unserved.note(name, req.method, req.originalUrl);
    // The status of the originals: clients read what they have deleted, and paths of extensions that a cloud lacks.
    throw notFound('The resource could not be found.', unknownPathType);
  });
  router.use((error: unknown, req: Request, res: Response, _next: NextFunction) => {
    const known = readable(error);
    if (!known) cloudOf(res).onError(error);
    if (res.headersSent) return res.destroy(error as Error);
    if (known?.unserved) cloudOf(res).unserved.note(name, req.method, `${req.originalUrl}#${known.unserved}`);
    const shown = known ?? new ServiceError(500, 'An unexpected error happened; the cloud was told.');
    const body = fault(shown, req);
    if (body instanceof TextBody) res.status(shown.status).type(body.type).send(body.text);
    else res.status(shown.status).json(body);
  });
  return router;
}

/**
 * A small service around the compute API: a table of routes and its own form of errors. What it does not serve is noted
 * as unhandled. The table
 * is built on the first request and serves all clouds of the process.
 */
export function standIn(options: StandInOptions): (cloud: CloudContext) => RequestHandler {
  let router: Router | undefined;
  return (cloud) =>
    function service(req, res, next) {
      res.locals.cloud = cloud;
      router ??= routerOf(options);
      router(req, res, next);
    };
}
