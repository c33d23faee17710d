import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  announceEnd,
  at,
  defaultJsonLimits,
  type JsonLimits,
  type Migrations,
  RequestError,
  rejectUnknownOptions,
  type Version,
} from '@apistrata/microversion';
import { type Query, type Versioned, versioned } from '@apistrata/microversion/schema';
import type { z } from 'zod';
import { checkMediaType, readBody } from './body.js';
import { conversionsByOperation, negotiatedVersion, windowsOfRoute } from './by-history.js';
import { errorBoundary, type Fault, type OnError } from './error-boundary.js';
import { createErrorSender, type RouterErrorsOption } from './error-sender.js';
import { InvalidBody, InvalidQuery, InvalidReply } from './errors.js';
import { RequestTrace, type RouterObserver } from './observer.js';
import type { Operation, Routed } from './operation.js';
import { PreparedResponse } from './prepared-response.js';
import { Reply } from './reply.js';
import { candidatesOf, operationAt, routeTable } from './table.js';

/** The properties of a call that the router sets, stage by stage. */
export type RoutedCall = { -readonly [K in keyof Routed]: Routed[K] } & { operation: Operation | undefined };

/** Options for `createRouter()`. C is the type of the calls of the API. */
export interface RouterOptions<C> {
  readonly operations: readonly Operation[];
  /** Creates the call object of a request: the caller's identity and other data for handlers. Runs before routing. */
  readonly call: (req: IncomingMessage, res: ServerResponse) => C | Promise<C>;
  /** The path to route, without the query. Default: the path of the request URL. */
  readonly path?: (req: IncomingMessage, call: C) => string;
  /**
   * Negotiates the version of a request and writes the version headers. Throws if negotiation fails.
   * Default: the version that a preceding `versioning()` or `microversion()` negotiated.
   */
  readonly negotiate?: (req: IncomingMessage, res: ServerResponse) => Version | Promise<Version>;
  /** Checks the path before the operation for the version is selected. */
  readonly checkAddress?: (call: C) => void;
  /** Checks whether the policy allows the operation on its target. Throws if access is denied. */
  readonly authorize?: (operation: Operation, call: C & Routed) => void | Promise<void>;
  /**
   * How errors are sent: `problem` (RFC 9457), `json`, or a function that returns the body and its content type. Internal
   * errors are sent as a status 500 without details. Default `problem`.
   */
  readonly errors?: RouterErrorsOption;
  /**
   * Replaces `errors`: sends the complete response for an error, including internal errors, for an API whose errors also
   * decide about the status, the headers or a log entry. If it throws, the response is an empty 500.
   */
  readonly fault?: Fault;
  /** Called with errors that `fault` throws, errors after the response has started and, without `fault`, internal errors. */
  readonly onError?: OnError;
  /** Maximum length of a body in bytes. Default 1 MiB. */
  readonly bodyLimitBytes?: number;
  /** Limits for the structure of a body; a body that exceeds them is rejected with 400. Default: 64 levels, 20,000 values. */
  readonly jsonLimits?: Partial<JsonLimits>;
  /** Media types that are parsed as JSON, in addition to `application/json` and `text/plain`. */
  readonly mediaTypes?: readonly string[];
  /** Whether unknown body keys are handled as the schema defines or always dropped. Default `as-defined`. */
  readonly unknownKeys?: 'as-defined' | 'drop';
  /** Whether every response is validated against the schema of its operation, for tests. Default false. */
  readonly validateReplies?: boolean;
  /** Functions that observe requests, for metrics and traces. */
  readonly observer?: RouterObserver;
  /**
   * Conversions of bodies between versions, by operation name, so that handlers use only the newest format. Requests
   * are converted after validation, responses before rendering.
   */
  readonly migrations?: Migrations;
}

const ROUTER_OPTIONS: Readonly<Record<keyof RouterOptions<object>, true>> = {
  operations: true,
  call: true,
  path: true,
  negotiate: true,
  checkAddress: true,
  authorize: true,
  errors: true,
  fault: true,
  onError: true,
  bodyLimitBytes: true,
  jsonLimits: true,
  mediaTypes: true,
  unknownKeys: true,
  validateReplies: true,
  observer: true,
  migrations: true,
};

const METHODS_WITH_BODY = new Set(['POST', 'PUT', 'PATCH']);

/** The compiled schemas and reply of an operation, built on first use. */
interface CompiledOperation {
  readonly body: Versioned<any> | undefined;
  readonly query: Query<any> | undefined;
  readonly reply: Reply | undefined;
}

const compiledOperations = new WeakMap<Operation, CompiledOperation>();
// Keyed by definition, because operations that serve the same resource at different paths share their compiled schemas.
const compiledBodies = new WeakMap<object, Versioned<any>>();
const compiledReplies = new WeakMap<object, Reply>();

function getOrCreate<T>(cache: WeakMap<object, T>, definition: object, create: () => T): T {
  let value = cache.get(definition);
  if (value === undefined) cache.set(definition, (value = create()));
  return value;
}

/** Returns the compiled schemas and reply of an operation. */
export function compileOperation(operation: Operation): CompiledOperation {
  let cached = compiledOperations.get(operation);
  if (!cached) {
    cached = {
      body: operation.body && getOrCreate(compiledBodies, operation.body, () => versioned(operation.body)),
      query: operation.query,
      reply: operation.reply && getOrCreate(compiledReplies, operation.reply, () => new Reply(operation.reply)),
    };
    compiledOperations.set(operation, cached);
  }
  return cached;
}

function send(res: ServerResponse, status: number, text: string | Buffer | undefined): void {
  res.statusCode = status;
  if (text !== undefined && status !== 204) {
    if (!res.hasHeader('Content-Type')) res.setHeader('Content-Type', 'application/json');
    res.setHeader('Content-Length', Buffer.byteLength(text));
    res.end(text);
  } else {
    if (status !== 204) res.setHeader('Content-Length', 0);
    res.end();
  }
}

/** Returns whether a value is a promise. Other values are not awaited, because `await` would defer the rest of the request. */
function isPromiseLike<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}

function responseOf(result: unknown): PreparedResponse {
  return result instanceof PreparedResponse ? result : new PreparedResponse({ body: result });
}

/**
 * Creates a handler that routes requests to operations with a radix tree. It compiles the schemas of an operation for
 * each interval of versions on first use. It responds to all requests; use it in Express or as a `node:http` listener.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http';
 * import { negotiator } from '@apistrata/microversion';
 * import { createRouter, operationsOf } from '@apistrata/microversion-router';
 * import { z } from 'zod';
 *
 * const ping = operationsOf<object>()({
 *   method: 'GET',
 *   path: '/ping',
 *   summary: 'Check the connection',
 *   status: 200,
 *   reply: { pong: z.boolean() },
 *   run: () => ({ pong: true }),
 * });
 * const router = createRouter({
 *   operations: [ping],
 *   call: () => ({}),
 *   negotiate: negotiator({ service: 'todo', min: '1.1', max: '1.12' }).apply,
 * });
 * createServer(router).listen(3000);
 * ```
 */
export function createRouter<C extends object>(options: RouterOptions<C>) {
  rejectUnknownOptions('createRouter', options, Object.keys(ROUTER_OPTIONS));
  const table = routeTable(options.operations);
  const checkRequestBody = options.unknownKeys === 'drop' ? checkKnownKeys : checkBody;
  const bodyOptions = {
    limitBytes: options.bodyLimitBytes ?? 1024 * 1024,
    mediaTypes: options.mediaTypes ?? [],
    jsonLimits: { ...defaultJsonLimits, ...options.jsonLimits },
  };
  const fault = errorBoundary(options.fault ?? createErrorSender(options.errors, options.onError), options.onError);
  const { negotiate = negotiatedVersion } = options;
  const migrationsByOperation = options.migrations && conversionsByOperation(options.operations, options.migrations);

  async function serve(req: IncomingMessage, res: ServerResponse, trace?: RequestTrace): Promise<void> {
    const createdCall = options.call(req, res);
    const call = (isPromiseLike(createdCall) ? await createdCall : createdCall) as C & RoutedCall;
    trace?.endStage('identity');
    const url = req.url ?? '/';
    const queryStart = url.indexOf('?');
    const path = options.path ? options.path(req, call) : queryStart < 0 ? url : url.slice(0, queryStart);
    const match = table.find(req.method ?? 'GET', path);
    if (!match) throw new RequestError('NO_ROUTE', 'The resource could not be found.');
    call.params = match.params;
    trace?.endStage('route');
    const negotiationResult = negotiate(req, res);
    const version = (call.version = isPromiseLike(negotiationResult) ? await negotiationResult : negotiationResult);
    if (trace) trace.version = version;
    trace?.endStage('version');
    let body: unknown;
    if (METHODS_WITH_BODY.has(req.method ?? 'GET')) {
      checkMediaType(req, bodyOptions);
      body = await readBody(req, bodyOptions);
    }
    trace?.endStage('body');
    const candidates = candidatesOf(match.route, body);
    options.checkAddress?.(call);
    const operation = (call.operation = operationAt(candidates, version));
    if (trace) trace.operation = operation;
    if (operation.window !== undefined) announceEnd(req, res, windowsOfRoute(candidates), version);
    const parts = compileOperation(operation);
    const conversions = migrationsByOperation?.get(operation)?.(version);
    call.query = parts.query && checkQuery(parts.query, queryStart < 0 ? '' : url.slice(queryStart + 1), version);
    call.body = parts.body && checkRequestBody(parts.body, body, version);
    if (conversions?.request) call.body = conversions.request(call.body);
    trace?.endStage('validation');
    const target = operation.target?.(call);
    call.target = isPromiseLike(target) ? await target : target;
    trace?.endStage('target');
    const authorization = options.authorize?.(operation, call);
    if (isPromiseLike(authorization)) await authorization;
    trace?.endStage('policy');
    const loaded = operation.load?.(call);
    call.loaded = isPromiseLike(loaded) ? await loaded : loaded;
    trace?.endStage('load');
    const returnedValue: unknown = operation.run(call);
    const result = responseOf(isPromiseLike(returnedValue) ? await returnedValue : returnedValue);
    trace?.endStage('run');
    const status = result.status ?? at(operation.status, version) ?? 200;
    if (result.headers) for (const [name, value] of Object.entries(result.headers)) res.setHeader(name, value);
    const value = conversions?.response && result.body !== undefined ? conversions.response(result.body) : result.body;
    const rendered = result.raw ?? (value === undefined ? undefined : parts.reply?.render(version)(value, call));
    const text = rendered instanceof Promise ? await rendered : rendered;
    if (options.validateReplies && result.raw === undefined) validateReply(operation, parts.reply, version, text);
    send(res, status, text);
    trace?.endStage('render');
  }

  async function serveObserved(observer: RouterObserver, req: IncomingMessage, res: ServerResponse): Promise<void> {
    const trace = new RequestTrace(observer);
    let failure: unknown;
    try {
      await serve(req, res, trace);
    } catch (error) {
      failure = error;
      fault(error, req, res);
    }
    trace.end(req, res, failure);
  }

  const { observer } = options;
  if (!observer) {
    return function microversionRouter(req: IncomingMessage, res: ServerResponse): void {
      serve(req, res).catch((error) => fault(error, req, res));
    };
  }
  const { around = (_req, serving) => serving() } = observer;
  return function microversionRouter(req: IncomingMessage, res: ServerResponse): void {
    around(req, () => serveObserved(observer, req, res)).catch((error) => fault(error, req, res));
  };
}

/** The query of a request without a query string, which is always valid because no parameter is required. */
const EMPTY_QUERY: object = Object.freeze({ __proto__: null });

function checkQuery(query: Query<any>, text: string, version: Version): unknown {
  if (text === '') return EMPTY_QUERY;
  const { value, problems } = query.parse(new URLSearchParams(text), version);
  if (problems.length > 0) throw new InvalidQuery(problems);
  return value;
}

function checkBody(schema: Versioned<any>, body: unknown, version: Version): unknown {
  const checked = schema.check(version).safeParse(body);
  if (!checked.success) throw new InvalidBody(checked.error.issues, body);
  return checked.data;
}

/** Validates a request body after its unknown keys have been dropped. */
function checkKnownKeys(schema: Versioned<any>, body: unknown, version: Version): unknown {
  const checker = schema.check(version);
  let acceptedBody = body;
  for (;;) {
    const checked = checker.safeParse(acceptedBody);
    if (checked.success) return checked.data;
    const { issues } = checked.error;
    const otherIssues = issues.filter(({ code }) => code !== 'unrecognized_keys');
    if (otherIssues.length > 0) throw new InvalidBody(otherIssues, body);
    acceptedBody = structuredClone(acceptedBody);
    for (const { path, keys } of issues as readonly z.core.$ZodIssueUnrecognizedKeys[]) {
      const parent = path.reduce<any>((value, key) => value[key], acceptedBody);
      for (const key of keys) delete parent[key];
    }
  }
}

function validateReply(
  operation: Operation,
  reply: Reply | undefined,
  version: Version,
  text: string | Buffer | undefined,
): void {
  const name = `${operation.method} ${operation.path} ${operation.action ?? ''} at ${version}`;
  if (text === undefined) return;
  if (!reply) throw new InvalidReply(`${name} returns a body but defines no reply`);
  const checked = reply.schema(version).safeParse(JSON.parse(String(text)));
  if (!checked.success) throw new InvalidReply(`${name}: ${checked.error.message}`);
}
