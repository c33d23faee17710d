import { CatalogError } from '@apistrata/compute-engine/catalogs';
import { requestId } from '@apistrata/request-id';
import { type NextFunction, type Request, type RequestHandler, type Response, Router } from 'express';
import { Call } from './call.js';
import type { CloudContext } from './cloud-context.js';
import { readJson } from './read-json.js';
import { isRecordOnly } from './record-only.js';
import { Reply, type Route, type Run } from './route.js';
import { runSerially } from './serialized.js';
import { notFound, recordOnlyError, ServiceError } from './service-error.js';
import { TextBody } from './text-body.js';

export interface FakeServiceOptions {
  readonly name: string;
  /** The service types in the catalog. Callers' access rules refer to them. */
  readonly types: readonly string[];
  /** Returns the routes. Called once, on the first request. */
  readonly routes: () => readonly Route[];
  /** Returns the body of an error in the service's format: JSON, or a {@link TextBody}. */
  readonly fault: (error: ServiceError, req: Request) => unknown;
  /** Returns middleware that runs before the routes, such as version negotiation. Called once, on the first request. */
  readonly before?: () => RequestHandler;
  /** Whether a path with a trailing slash is a different path. */
  readonly strict?: true;
  /** Converts a catalog error to the service's error. By default, the error type is derived from the error code. */
  readonly fromCatalogError?: (error: CatalogError) => ServiceError;
  /** Whether unsupported methods on known paths return 405; default: 404. */
  readonly rejectsMethods?: true;
  /** Converts an error of the body parser or the version parser. By default, the status and message do not change. */
  readonly fromParserError?: (error: ParserError) => ServiceError;
  /** Whether every body is parsed as JSON, regardless of its media type. */
  readonly readsEveryType?: true;
  /** Whether JSON responses omit the charset in `Content-Type`. */
  readonly omitsCharset?: true;
  /** The error type for unknown paths; default `NotFound`. */
  readonly unknownPathType?: string;
  /** Whether all changes to the service run serially. */
  readonly serializesChanges?: true;
}

/** An error from middleware that parses the body or the version of a request. */
export interface ParserError {
  readonly status: number;
  readonly message: string;
  /** The type that Express's body parser sets, such as `entity.parse.failed`. */
  readonly type?: string;
  /** The error code that version negotiation sets, such as `INVALID_VERSION_HEADER`. */
  readonly code?: string;
}

const JSON_TYPES = [
  'application/json',
  'application/openstack-images-v2.1-json-patch',
  'application/openstack-images-v2.0-json-patch',
];

/** Sends the same 401 response as OpenStack's token middleware. */
function respondUnauthorized(req: Request, res: Response): void {
  const identityUrl = `${req.protocol}://${req.headers.host}/identity`;
  const error = { code: 401, title: 'Unauthorized', message: 'The request you have made requires authentication.' };
  res.status(401).set('WWW-Authenticate', `Keystone uri="${identityUrl}"`).json({ error });
}

const keepMessage = ({ status, message }: ParserError) => new ServiceError(status, message);

/** Converts an error to the service's error; undefined for unexpected errors, whose messages callers must not see. */
function toServiceError(
  error: unknown,
  { fromCatalogError = toErrorByCode, fromParserError = keepMessage }: Partial<FakeServiceOptions>,
): ServiceError | undefined {
  if (error instanceof ServiceError) return error;
  if (error instanceof CatalogError) return fromCatalogError(error);
  const { status, expose } = error as { status?: unknown; expose?: unknown };
  if (typeof status === 'number' && status < 500 && expose) return fromParserError(error as ParserError);
  return undefined;
}

/** Converts an error code such as `PORT_NOT_FOUND` to an error type of the services, such as `PortNotFound`. */
function toPascalCase(code: string): string {
  return code.replaceAll(/([A-Z])([A-Z]*)_?/g, (_, first: string, rest: string) => first + rest.toLowerCase());
}

const toErrorByCode = (error: CatalogError) => new ServiceError(error.status, error.message, toPascalCase(error.code));

type SendJson = (res: Response, body: unknown) => void;

const sendWithCharset: SendJson = (res, body) => res.json(body);

const sendWithoutCharset: SendJson = (res, body) => {
  res.setHeader('Content-Type', 'application/json');
  res.send(Buffer.from(JSON.stringify(body)));
};

function sendResult(res: Response, result: unknown, sendJson: SendJson): void {
  if (result === undefined) return;
  const { status, body, headers } = result instanceof Reply ? result : new Reply(200, result);
  res.status(status).set(headers);
  if (body === undefined) res.end();
  else sendBody(res, body, sendJson);
}

function sendBody(res: Response, body: unknown, sendJson: SendJson): void {
  if (!(body instanceof TextBody)) sendJson(res, body);
  else if (body.type.startsWith('text/')) res.type(body.type).send(body.text);
  else {
    // For strings, Express adds a charset to `Content-Type`, which OAuth clients reject.
    res.setHeader('Content-Type', body.type);
    res.send(Buffer.from(body.text));
  }
}

const cloudOf = (res: Response) => res.locals.cloud as CloudContext;

/** Runs a handler and waits until its changes are durable, even if the handler fails. */
async function runDurably(call: Call, run: Run): Promise<unknown> {
  try {
    return await run(call);
  } finally {
    call.end();
    await call.cloud.documents.flush();
  }
}

/** Matches the start of a path pattern, up to the first resource collection, such as `/v2.0/networks`. */
const COLLECTION = /^(?:\/v[\d.]+)?\/[^/]+/;
/** Matches the ids of resources in a JSON body. */
const BODY_IDS = /"([\da-f]{8}(?:-?[\da-f]{4}){3}-?[\da-f]{12})"/gi;

/**
 * Returns a route's handler. Changes run serially if they are in the same collection or name the same resource in the
 * path or body, so that the checks of a change stay valid until the change is complete.
 */
function serializedRun(route: Route, { name, serializesChanges }: FakeServiceOptions): Run {
  const { path, method, open, run } = route;
  const isRead = method === 'get' || method === 'head';
  const { serializedBy = isRead || open ? 'none' : 'collection' } = route;
  if (serializedBy === 'none') return run;
  const collections = serializedBy === 'collection' ? (COLLECTION.exec(path) ?? []) : [];
  const keysOf = ({ req }: Call) => {
    const bodyIds = [...JSON.stringify(req.body ?? null).matchAll(BODY_IDS)].map(([, id]) => id);
    return [...collections, ...Object.values(req.params), ...bodyIds].map((key) => `${name}/${key}`);
  };
  return (call) => runSerially(call.cloud, serializesChanges ? [name] : keysOf(call), () => run(call));
}

/** Returns the methods that a route table serves at each path. */
function methodsByPath(table: readonly Route[]): ReadonlyMap<string, readonly string[]> {
  const methods = new Map<string, readonly string[]>();
  for (const { path, method } of table) methods.set(path, [...(methods.get(path) ?? []), method.toUpperCase()]);
  return methods;
}

function createRouter(options: FakeServiceOptions): Router {
  const { name, types, routes, fault, before, strict, unknownPathType, rejectsMethods, omitsCharset } = options;
  const sendJson = omitsCharset ? sendWithoutCharset : sendWithCharset;
  const router = Router({ caseSensitive: true, strict });
  router.use(requestId({ preset: 'openstack', headers: ['X-OpenStack-Request-ID'] }));
  if (before) router.use(before());
  router.use(readJson(options.readsEveryType ? () => true : JSON_TYPES));
  const table = routes();
  for (const route of table) {
    const { method, path, open } = route;
    const run = serializedRun(route, options);
    const isOnlyStored = isRecordOnly(name, method, path);
    router[method](path, async (req: Request, res: Response) => {
      const cloud = cloudOf(res);
      const caller = cloud.identifyCaller(req, types);
      if (!open && !caller) respondUnauthorized(req, res);
      else if (isOnlyStored && !cloud.simulated) throw recordOnlyError(path);
      else sendResult(res, await runDurably(new Call(req, res, cloud, caller), run), sendJson);
    });
  }
  if (rejectsMethods)
    for (const [path, methods] of methodsByPath(table))
      router.all(path, (req: Request, res: Response) => {
        if (!cloudOf(res).identifyCaller(req, types)) return respondUnauthorized(req, res);
        res.setHeader('Allow', methods.join(', '));
        throw new ServiceError(405, 'The method specified is not allowed for this resource.');
      });
  router.use((req: Request, res: Response) => {
    const { identifyCaller, unhandled } = cloudOf(res);
    if (!identifyCaller(req, types)) return respondUnauthorized(req, res);
    unhandled.note(name, req.method, req.originalUrl);
    // Clients rely on the status 404, as in OpenStack, for deleted resources and for paths of missing extensions.
    throw notFound('The resource could not be found.', unknownPathType);
  });
  router.use((error: unknown, req: Request, res: Response, _next: NextFunction) => {
    const serviceError = toServiceError(error, options);
    if (!serviceError) cloudOf(res).onError(error);
    if (res.headersSent) return res.destroy(error as Error);
    if (serviceError?.unhandled)
      cloudOf(res).unhandled.note(name, req.method, `${req.originalUrl}#${serviceError.unhandled}`);
    const shownError = serviceError ?? new ServiceError(500, 'An unexpected error occurred. See the log of the cloud.');
    const body = fault(shownError, req);
    sendBody(res.status(shownError.status), body, sendJson);
  });
  return router;
}

/**
 * Creates a service from routes and an error format. Requests for other paths are recorded as unhandled. The routes are
 * created on the first request, and all clouds of the process share them.
 */
export function defineService(options: FakeServiceOptions): (cloud: CloudContext) => RequestHandler {
  let router: Router | undefined;
  return (cloud) =>
    function service(req, res, next) {
      res.locals.cloud = cloud;
      router ??= createRouter(options);
      router(req, res, next);
    };
}
