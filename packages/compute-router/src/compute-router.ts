import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Engine, Rejection } from '@apistrata/compute-engine';
import { checkOptions } from '@apistrata/compute-engine/api';
import { type HeaderPreset, majorMinor, type Negotiator, negotiator, Version } from '@apistrata/microversion';
import { createRouter, errorBoundary, type Operation, openApiDocuments } from '@apistrata/microversion-router';
import { requestId, requestIdOf } from '@apistrata/request-id';
import { type ApiObserver, combineObservers } from './http/api-observer.js';
import type { ComputeCall, Mount, RouterContext } from './http/call.js';
import { createCallFactory } from './http/create-call.js';
import { type CorsOptions, crossOrigin } from './http/cross-origin.js';
import { faultRenderer } from './http/faults.js';
import type { Middleware } from './http/middleware.js';
import { observeUnrouted } from './http/observe-unrouted.js';
import type { RateLimiter } from './http/rate-limited.js';
import { REQUEST_ID_HEADERS } from './http/request-id-headers.js';
import { normalizeTarget } from './http/request-target.js';
import { urlPath } from './http/url-path.js';
import { computeDiscovery, versionDocuments } from './http/version-documents.js';
import type { Identity } from './identity/index.js';
import { operations } from './operations/index.js';
import { newestSupported } from './operations/newest-supported.js';
import { type Policies, policies, type RuleName } from './policy/index.js';
import { computeApiDescription } from './reference/api-description.js';
import { MAX_VERSION, MIN_VERSION } from './versions/index.js';

/** Options for `computeRouter()`. `engine` and `identity` are required. */
export interface ComputeRouterOptions {
  readonly engine: Engine;
  /** Identifies the caller; see `noauth()`, `staticTokens()` and `identityService()`. */
  readonly identity: Identity;
  /** Which version headers the API reads and sends. Default: `both`. */
  readonly headers?: HeaderPreset;
  /**
   * Highest microversion that the API serves. Default: `MAX_VERSION`. `latest` means `newestSupported()`, the highest
   * possible version.
   */
  readonly maxVersion?: string;
  readonly policies?: Policies;
  /** Maximum number of items per page. Default: 1000. */
  readonly maxLimit?: number;
  /** Whether `X-Forwarded-*` headers are trusted. Default: Express's `trust proxy` setting. */
  readonly trustProxy?: boolean;
  /** Limits the request rate of users and projects. Default: no limits. */
  readonly rateLimit?: RateLimiter;
  /** Origins whose web pages may call the API from a browser. Default: none; `OPTIONS` requests then return 404. */
  readonly cors?: CorsOptions;
  /** Called with errors that cause a 500 response, and with database failures (503). Default: none. */
  readonly onError?: (error: unknown, req: IncomingMessage) => void;
  /** Observers that receive data about each request, for metrics and traces. Default: none. */
  readonly observer?: ApiObserver | readonly ApiObserver[];
  /** Whether to validate every response against its operation's schema. Intended for tests. Default: false. */
  readonly validateReplies?: boolean;
}

const KNOWN_OPTIONS: Readonly<Record<keyof ComputeRouterOptions, true>> = {
  engine: true,
  identity: true,
  headers: true,
  maxVersion: true,
  policies: true,
  maxLimit: true,
  trustProxy: true,
  rateLimit: true,
  cors: true,
  onError: true,
  observer: true,
  validateReplies: true,
};

const BODY_LIMIT_BYTES = 114_688;
const VENDOR_MEDIA_TYPE = 'application/vnd.openstack.compute+json';

/** Patterns that split a path into the mount path, an optional project id, and the rest. */
const PATH_PATTERNS: Readonly<Record<Mount, RegExp>> = {
  '/v2.1': /^\/v2\.1(?:\/([0-9a-f-]+)(?=\/))?(\/.*)$/,
  '/v2': /^\/v2(?:\/([0-9a-f-]+)(?=\/))?(\/.*)$/,
};

type Handler = (req: IncomingMessage, res: ServerResponse) => void;

/** A request handler for the compute API. Its properties provide the OpenAPI documents. */
export interface ComputeRouter extends Handler {
  /** Returns the OpenAPI document for a microversion. */
  readonly openApi: (version: string, serverUrl?: string) => Readonly<Record<string, unknown>>;
  /**
   * Returns the OpenAPI document for a microversion as JSON text, which is cached.
   *
   * @throws RangeError if the API does not serve the version
   */
  readonly openApiText: (version: string, serverUrl?: string) => string;
}

function resolveMaxVersion(options: ComputeRouterOptions): Version {
  checkOptions('computeRouter()', options, KNOWN_OPTIONS);
  if (options.maxVersion === undefined) return Version.of(MAX_VERSION);
  const latest = newestSupported();
  if (options.maxVersion === 'latest') return latest;
  const max = Version.of(options.maxVersion, [majorMinor]);
  if (!max.within(Version.of(MIN_VERSION), latest)) {
    throw new RangeError(`computeRouter(): maxVersion is ${max}, but it must be between ${MIN_VERSION} and ${latest}`);
  }
  return max;
}

const openApiCache = openApiDocuments(operations, computeApiDescription);

/**
 * Creates only the compute API, without the middlewares that `computeApi()` adds. It can be mounted at any path, such
 * as `app.use('/compute', computeRouter({ engine, identity }))`, and handles all requests below this path, including
 * those for version documents. Links in responses contain the mount path.
 */
export function computeRouter(options: ComputeRouterOptions): ComputeRouter {
  const handler = computeHandler(options);
  // If the surrounding application has already assigned a request id, the headers of this API contain the same id.
  const generateRequestId = (req: IncomingMessage) => requestIdOf(req)?.local ?? `req-${randomUUID()}`;
  const requestIds = requestId({
    preset: 'openstack',
    headers: REQUEST_ID_HEADERS,
    generate: generateRequestId,
    context: false,
  });
  const cors = options.cors && crossOrigin(options.cors);
  const serve: Handler = cors ? (req, res) => cors(req, res, () => handler(req, res)) : handler;
  const router: Handler = (req, res) => {
    normalizeTarget(req);
    if (isVersionList(req)) serve(req, res);
    else requestIds(req, res, () => serve(req, res));
  };
  return Object.assign(router, { openApi: handler.openApi, openApiText: handler.openApiText });
}

/** Returns whether a request is for the version list, whose response is the only one without a request id. */
export function isVersionList(req: IncomingMessage): boolean {
  return /^\/?(?:\?|$)/.test(req.url ?? '/');
}

/** Creates the same handler as `computeRouter()`, except that its caller must assign the request ids. */
export function computeHandler(options: ComputeRouterOptions): ComputeRouter {
  const max = resolveMaxVersion(options);
  const { headers = 'both' } = options;
  const observer = combineObservers(options.observer);
  const negotiation = { service: 'compute', min: MIN_VERSION, max, headers, onVersion: observer?.version } as const;
  const negotiate = negotiator(negotiation);
  const discovery = computeDiscovery(max, options.trustProxy);
  const routerContext: RouterContext = {
    policies: options.policies ?? policies(),
    maxLimit: options.maxLimit ?? 1000,
    trustProxy: options.trustProxy,
    discovery,
    projectExists: options.identity.projectExists,
  };
  const callOf = createCallFactory(options, routerContext);
  const onError = options.onError ?? (() => {});
  const sendError = errorBoundary(faultRenderer({ onUnexpected: onError }), onError);
  const routerAt = (mount: Mount, apply: Negotiator['apply']) =>
    createRouter<ComputeCall>({
      operations,
      bodyLimitBytes: BODY_LIMIT_BYTES,
      mediaTypes: [VENDOR_MEDIA_TYPE],
      unknownKeys: mount === '/v2' ? 'drop' : 'as-defined',
      validateReplies: options.validateReplies,
      call: (req, res) => callOf(req, res, mount),
      path: (req, call) => {
        const [, project, rest] = PATH_PATTERNS[mount].exec(urlPath(req)) ?? [];
        call.projectInPath = project;
        return rest ?? '';
      },
      negotiate: apply,
      checkAddress: ({ projectInPath, caller }) => {
        if (projectInPath === undefined || projectInPath === caller.projectId) return;
        throw new Rejection(
          'BAD_REQUEST',
          `Malformed request URL: URL's project_id '${projectInPath}' doesn't match Context's project_id '${caller.projectId}'`,
        );
      },
      authorize,
      fault: sendError,
      onError,
      observer,
    });
  const serve = routerAt('/v2.1', negotiate.apply);
  // Few clients use `/v2`, which predates microversions, so its router is created on first use.
  let legacyHandler: Handler | undefined;
  const serveLegacy: Handler = (req, res) => {
    legacyHandler ??= routerAt('/v2', negotiator({ ...negotiation, pinned: MIN_VERSION }).apply);
    legacyHandler(req, res);
  };
  const respondWithDocument = versionDocuments({ discovery, negotiate });
  const documents: Middleware = (req, res, next) => {
    if (!respondWithDocument(req, res)) next();
  };
  const serveDocuments = observeUnrouted('versions', documents, observer);
  const handler: Handler = (req, res) => {
    try {
      serveDocuments(req, res, () => {
        if (req.url?.startsWith('/v2/')) serveLegacy(req, res);
        else serve(req, res);
      });
    } catch (error) {
      sendError(error, req, res);
    }
  };
  // The cache keeps a document for each requested version. Accepting only served versions limits its size.
  const parseServedVersion = (text: string) => {
    const version = Version.parse(text);
    if (version?.within(Version.of(MIN_VERSION), max)) return version;
    throw new RangeError(`'${text}' is not a version of this API: it supports ${MIN_VERSION} to ${max}`);
  };
  const apiUrl = (serverUrl: string | undefined) => serverUrl && `${serverUrl}/v2.1`;
  return Object.assign(handler, {
    openApi: (version: string, serverUrl?: string) => openApiCache.at(parseServedVersion(version), apiUrl(serverUrl)),
    openApiText: (version: string, serverUrl?: string) =>
      openApiCache.text(parseServedVersion(version), apiUrl(serverUrl)),
  });
}

/** Enforces each of the operation's policy rules against the project and user that own the target. */
function authorize({ policy }: Operation, call: ComputeCall): void {
  if (policy === undefined) return;
  const { projectId, userId } = (call.target ?? {}) as { projectId?: string; userId?: string };
  const target = projectId === undefined && userId === undefined ? undefined : { projectId, userId };
  if (typeof policy === 'string') call.require(policy as RuleName, target);
  else for (const rule of policy) call.require(rule as RuleName, target);
}
