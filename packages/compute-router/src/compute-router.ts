import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Engine, Refusal } from '@apistrata/compute-engine';
import { checkOptions } from '@apistrata/compute-engine/api';
import { type HeaderPreset, type Negotiator, negotiator, requestBase, Version } from '@apistrata/microversion';
import { createRouter, faultNet, type Operation, openApiDocuments } from '@apistrata/microversion/router';
import { requestId, requestIdOf } from '@apistrata/request-id';
import { computeApiDescription } from './description/api-description.js';
import { type ApiObserver, apiObservedBy } from './http/api-observer.js';
import { ComputeCall, type Mount, type RouterContext } from './http/call.js';
import { type CorsOptions, crossOrigin } from './http/cross-origin.js';
import { faultRenderer, Unauthorized } from './http/faults.js';
import type { Middleware } from './http/middleware.js';
import { observedAside } from './http/observed-aside.js';
import { applyRateLimit, type RateLimiter } from './http/rate-limited.js';
import { REQUEST_ID_HEADERS } from './http/request-id-headers.js';
import { normalizeTarget } from './http/request-target.js';
import { urlPath } from './http/url-path.js';
import { computeDiscovery, versionDocuments } from './http/version-documents.js';
import type { Identity } from './identity/index.js';
import { operations } from './operations/index.js';
import { latestKnown } from './operations/latest-known.js';
import { type Policies, policies, type RuleName } from './policy/index.js';
import { MAX_VERSION, MIN_VERSION } from './versions/index.js';

/** What `computeRouter()` can be told; the engine and the identity must be given. */
export interface ComputeRouterOptions {
  readonly engine: Engine;
  /** Who is calling; see `noauth()`, `staticTokens()` and `identityService()`. */
  readonly identity: Identity;
  /** Names of the version headers; default `both`. */
  readonly headers?: HeaderPreset;
  /**
   * Highest microversion; default `MAX_VERSION`, the last that the documents of this API describe. `latest` is
   * `latestKnown()`, the highest possible.
   */
  readonly maxVersion?: string;
  readonly policies?: Policies;
  /** Items of a page at the most; default 1000. */
  readonly maxLimit?: number;
  /** Whether forwarding headers are believed; default: what Express says. */
  readonly trustProxy?: boolean;
  /** Limits the requests of users and projects; default: nobody counts them. */
  readonly rateLimit?: RateLimiter;
  /** Pages of which origins may be clients, in browsers; default: none, and `OPTIONS` is a 404. */
  readonly cors?: CorsOptions;
  /** Told of errors that became a 500, and of trouble with the database (503); default: nobody. */
  readonly onError?: (error: unknown, req: IncomingMessage) => void;
  /** Looks on while requests are served: for metrics and traces. Several see the same. Default: nobody, which costs nothing. */
  readonly observer?: ApiObserver | readonly ApiObserver[];
  /** Holds every answer against its operation's own schema, for tests; default false. */
  readonly validateReplies?: boolean;
}

const OPTIONS: Readonly<Record<keyof ComputeRouterOptions, true>> = {
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
const VENDOR_TYPE = 'application/vnd.openstack.compute+json';

/** A mount, perhaps a project id, and the rest. */
const ADDRESSES: Readonly<Record<Mount, RegExp>> = {
  '/v2.1': /^\/v2\.1(?:\/([0-9a-f-]+)(?=\/))?(\/.*)$/,
  '/v2': /^\/v2(?:\/([0-9a-f-]+)(?=\/))?(\/.*)$/,
};

type Handler = (req: IncomingMessage, res: ServerResponse) => void;

/** The operations of the compute API, and its description at any version. */
export interface ComputeRouter extends Handler {
  /** The OpenAPI document of a version. */
  readonly openApi: (version: string, serverUrl?: string) => Readonly<Record<string, unknown>>;
  /** The same as JSON text, which is kept. Throws a RangeError for a version that is not served. */
  readonly openApiText: (version: string, serverUrl?: string) => string;
}

function checkedMaximum(options: ComputeRouterOptions): Version {
  checkOptions('computeRouter()', options, OPTIONS);
  if (options.maxVersion === undefined) return Version.of(MAX_VERSION);
  const latest = latestKnown();
  if (options.maxVersion === 'latest') return latest;
  const max = Version.of(options.maxVersion);
  if (!max.within(Version.of(MIN_VERSION), latest)) {
    throw new RangeError(`computeRouter(): maxVersion is ${max}, and only ${MIN_VERSION} to ${latest} are known`);
  }
  return max;
}

const documentation = openApiDocuments(operations, computeApiDescription);

/**
 * The compute API alone, to be mounted anywhere: `app.use('/compute', computeRouter({ engine, identity }))`. It answers
 * every path below its mount, the version documents included; links follow the mount.
 */
export function computeRouter(options: ComputeRouterOptions): ComputeRouter {
  const handler = computeHandler(options);
  // An id that the application around it has given already is told in these headers too.
  const generate = (req: IncomingMessage) => requestIdOf(req)?.local ?? `req-${randomUUID()}`;
  const requestIds = requestId({ preset: 'openstack', headers: REQUEST_ID_HEADERS, generate, context: false });
  const open = options.cors && crossOrigin(options.cors);
  const serve: Handler = open ? (req, res) => open(req, res, () => handler(req, res)) : handler;
  const router: Handler = (req, res) => {
    normalizeTarget(req);
    if (isVersionList(req)) serve(req, res);
    else requestIds(req, res, () => serve(req, res));
  };
  return Object.assign(router, { openApi: handler.openApi, openApiText: handler.openApiText });
}

/** True for the list of versions, the one answer without a request id. */
export function isVersionList(req: IncomingMessage): boolean {
  return /^\/?(?:\?|$)/.test(req.url ?? '/');
}

/** The same without request ids, for whoever gives them. */
export function computeHandler(options: ComputeRouterOptions): ComputeRouter {
  const max = checkedMaximum(options);
  const { headers = 'both' } = options;
  const observer = apiObservedBy(options.observer);
  const negotiation = { service: 'compute', min: MIN_VERSION, max, headers, onVersion: observer?.version } as const;
  const negotiate = negotiator(negotiation);
  const discovery = computeDiscovery(max, options.trustProxy);
  const { engine } = options;
  const shared: RouterContext = {
    policies: options.policies ?? policies(),
    maxLimit: options.maxLimit ?? 1000,
    trustProxy: options.trustProxy,
    discovery,
    projectExists: options.identity.projectExists,
  };
  const onError = options.onError ?? (() => {});
  const fault = faultNet(faultRenderer({ onUnexpected: onError }), onError);
  const routerAt = (mount: Mount, apply: Negotiator['apply']) =>
    createRouter<ComputeCall>({
      operations,
      bodyLimitBytes: BODY_LIMIT_BYTES,
      mediaTypes: [VENDOR_TYPE],
      unknownKeys: mount === '/v2' ? 'drop' : 'as-defined',
      validateReplies: options.validateReplies,
      call: async (req, res) => {
        const caller = await options.identity(req);
        if (!caller) throw new Unauthorized(options.identity.uri ?? `${requestBase(req, options.trustProxy)}/identity`);
        const counting = options.rateLimit?.count(caller);
        if (counting) applyRateLimit(await counting, res);
        const answering = req.method === 'GET' ? engine.reading(caller) : engine;
        const known = answering instanceof Promise ? await answering : answering;
        return new ComputeCall(req, res, caller, shared, mount, known);
      },
      path: (req, call) => {
        const [, project, rest] = ADDRESSES[mount].exec(urlPath(req)) ?? [];
        call.projectInPath = project;
        return rest ?? '';
      },
      negotiate: apply,
      checkAddress: ({ projectInPath, caller }) => {
        if (projectInPath === undefined || projectInPath === caller.projectId) return;
        throw new Refusal(
          'BAD_REQUEST',
          `Malformed request URL: URL's project_id '${projectInPath}' doesn't match Context's project_id '${caller.projectId}'`,
        );
      },
      authorize,
      fault,
      onError,
      observer,
    });
  const serve = routerAt('/v2.1', negotiate.apply);
  // Few clients still know the mount that is older than microversions: it is built for the first of them.
  let legacy: Handler | undefined;
  const serveLegacy: Handler = (req, res) => {
    legacy ??= routerAt('/v2', negotiator({ ...negotiation, pinned: MIN_VERSION }).apply);
    legacy(req, res);
  };
  const answerDocument = versionDocuments({ discovery, negotiate });
  const documents: Middleware = (req, res, next) => {
    if (!answerDocument(req, res)) next();
  };
  const first = observedAside('versions', documents, observer);
  const handler: Handler = (req, res) => {
    try {
      first(req, res, () => {
        if (req.url?.startsWith('/v2/')) serveLegacy(req, res);
        else serve(req, res);
      });
    } catch (error) {
      fault(error, req, res);
    }
  };
  // Every version that is asked for is kept, so that only those there are may be asked for.
  const served = (text: string) => {
    const version = Version.parse(text);
    if (version?.within(Version.of(MIN_VERSION), max)) return version;
    throw new RangeError(`'${text}' is no version of this API: it has ${MIN_VERSION} to ${max}`);
  };
  const below = (serverUrl: string | undefined) => serverUrl && `${serverUrl}/v2.1`;
  return Object.assign(handler, {
    openApi: (version: string, serverUrl?: string) => documentation.at(served(version), below(serverUrl)),
    openApiText: (version: string, serverUrl?: string) => documentation.text(served(version), below(serverUrl)),
  });
}

/** Checks each rule of the operation on what the operation acts on: the project and user of its target. */
function authorize({ policy }: Operation, call: ComputeCall): void {
  if (policy === undefined) return;
  const { projectId, userId } = (call.target ?? {}) as { projectId?: string; userId?: string };
  const target = projectId === undefined && userId === undefined ? undefined : { projectId, userId };
  for (const rule of [policy].flat()) call.require(rule as RuleName, target);
}
