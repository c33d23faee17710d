import type { IncomingMessage, ServerResponse } from 'node:http';
import type { z } from 'zod';
import { RequestError } from '../errors.js';
import { defaultJsonLimits, type JsonLimits } from '../json-limits.js';
import { refuseUnknown } from '../negotiation/refuse-unknown.js';
import { type Query, type Versioned, versioned } from '../schema/index.js';
import type { Version } from '../version.js';
import { at } from '../windowed.js';
import { Answer } from './answer.js';
import { checkMediaType, readBody } from './body.js';
import { InvalidBody, InvalidQuery, InvalidReply } from './errors.js';
import { type Fault, faultNet, type OnError } from './fault-net.js';
import { type RouterObserver, Trail } from './observer.js';
import type { Operation, Routed } from './operation.js';
import { Reply } from './reply.js';
import { candidatesOf, operationAt, routeTable } from './table.js';

/** What the router writes into a call, stage by stage. */
export type RoutedCall = { -readonly [K in keyof Routed]: Routed[K] } & { operation: Operation | undefined };

/** What `createRouter()` needs of an API whose calls are of type C. */
export interface RouterOptions<C> {
  readonly operations: readonly Operation[];
  /** Makes the call of a request: identity and whatever handlers need. What it throws is answered before routing. */
  readonly call: (req: IncomingMessage, res: ServerResponse) => C | Promise<C>;
  /** The path to route, without query; default: the path of the request's url. */
  readonly path?: (req: IncomingMessage, call: C) => string;
  /** Settles the version of a request, and throws when that is impossible. It writes the version headers itself. */
  readonly negotiate: (req: IncomingMessage, res: ServerResponse) => Version;
  /** A last check of the address before the version's window is looked at. */
  readonly checkAddress?: (call: C) => void;
  /** Checks the operation's policy on the target; throws when it is denied. */
  readonly authorize?: (operation: Operation, call: C & Routed) => void | Promise<void>;
  /** Answers an error. It is the only place that turns errors into bodies; what it throws becomes a bare 500. */
  readonly fault: Fault;
  /** Told of what `fault` itself threw, and of errors that came when the answer had begun. Default: nobody. */
  readonly onError?: OnError;
  /** Bytes a body may have; default 1 MiB. */
  readonly bodyLimitBytes?: number;
  /** Structure a body may have; more is a 400. Default: 64 levels, 20,000 values. */
  readonly jsonLimits?: Partial<JsonLimits>;
  /** Media types beside application/json that are JSON. */
  readonly mediaTypes?: readonly string[];
  /** What happens to keys of a body that its schema does not name: what the schema says, or dropped all the same. */
  readonly unknownKeys?: 'as-defined' | 'drop';
  /** Holds every answer against the operation's own schema, for tests. Default false. */
  readonly validateReplies?: boolean;
  /** Looks on: for metrics and traces. */
  readonly observer?: RouterObserver;
}

const OPTIONS: Readonly<Record<keyof RouterOptions<object>, true>> = {
  operations: true,
  call: true,
  path: true,
  negotiate: true,
  checkAddress: true,
  authorize: true,
  fault: true,
  onError: true,
  bodyLimitBytes: true,
  jsonLimits: true,
  mediaTypes: true,
  unknownKeys: true,
  validateReplies: true,
  observer: true,
};

const METHODS_WITH_BODY = new Set(['POST', 'PUT', 'PATCH']);

/** What is built once for an operation, on first use. */
interface Prepared {
  readonly body: Versioned<any> | undefined;
  readonly query: Query<any> | undefined;
  readonly reply: Reply | undefined;
}

const prepared = new WeakMap<Operation, Prepared>();

/** The compiled parts of an operation. */
export function prepare(operation: Operation): Prepared {
  let known = prepared.get(operation);
  if (!known) {
    known = {
      body: operation.body && versioned(operation.body),
      query: operation.query,
      reply: operation.reply && new Reply(operation.reply),
    };
    prepared.set(operation, known);
  }
  return known;
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

/** What is there already is not waited for: an await puts the rest of the request off, and costs more than this question. */
function isPromiseLike<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}

function answerOf(result: unknown): Answer {
  return result instanceof Answer ? result : new Answer({ body: result });
}

/**
 * Serves operations: one radix tree, and per operation and interval of versions what it needs, built on first use.
 * The handler answers everything; use it in Express or as a `node:http` listener.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http';
 * import { negotiator } from '@apistrata/microversion';
 * import { createRouter, operationsOf } from '@apistrata/microversion/router';
 * import { z } from 'zod';
 *
 * const ping = operationsOf<object>()({
 *   method: 'GET',
 *   path: '/ping',
 *   summary: 'Answer',
 *   status: 200,
 *   reply: { pong: z.boolean() },
 *   run: () => ({ pong: true }),
 * });
 * const router = createRouter({
 *   operations: [ping],
 *   call: () => ({}),
 *   negotiate: negotiator({ service: 'todo', min: '1.1', max: '1.12' }).apply,
 *   fault: (error, _req, res) => void res.writeHead((error as { status?: number }).status ?? 500).end(),
 * });
 * createServer(router).listen(3000);
 * ```
 */
export function createRouter<C extends object>(options: RouterOptions<C>) {
  refuseUnknown('createRouter', options, Object.keys(OPTIONS));
  const table = routeTable(options.operations);
  const check = options.unknownKeys === 'drop' ? checkKnownKeys : checkBody;
  const bodyOptions = {
    limitBytes: options.bodyLimitBytes ?? 1024 * 1024,
    mediaTypes: options.mediaTypes ?? [],
    jsonLimits: { ...defaultJsonLimits, ...options.jsonLimits },
  };
  const fault = faultNet(options.fault, options.onError);

  async function serve(req: IncomingMessage, res: ServerResponse, trail?: Trail): Promise<void> {
    const called = options.call(req, res);
    const call = (isPromiseLike(called) ? await called : called) as C & RoutedCall;
    trail?.pass('identity');
    const url = req.url ?? '/';
    const mark = url.indexOf('?');
    const path = options.path ? options.path(req, call) : mark < 0 ? url : url.slice(0, mark);
    const match = table.find(req.method ?? 'GET', path);
    if (!match) throw new RequestError('NO_ROUTE', 'The resource could not be found.');
    call.params = match.params;
    trail?.pass('route');
    const version = (call.version = options.negotiate(req, res));
    if (trail) trail.version = version;
    trail?.pass('version');
    let body: unknown;
    if (METHODS_WITH_BODY.has(req.method ?? 'GET')) {
      checkMediaType(req, bodyOptions);
      body = await readBody(req, bodyOptions);
    }
    trail?.pass('body');
    const candidates = candidatesOf(match.route, body);
    options.checkAddress?.(call);
    const operation = (call.operation = operationAt(candidates, version));
    if (trail) trail.operation = operation;
    const parts = prepare(operation);
    call.query = parts.query && checkQuery(parts.query, mark < 0 ? '' : url.slice(mark + 1), version);
    call.body = parts.body && check(parts.body, body, version);
    trail?.pass('validation');
    const target = operation.target?.(call);
    call.target = isPromiseLike(target) ? await target : target;
    trail?.pass('target');
    const authorized = options.authorize?.(operation, call);
    if (isPromiseLike(authorized)) await authorized;
    trail?.pass('policy');
    const loaded = operation.load?.(call);
    call.loaded = isPromiseLike(loaded) ? await loaded : loaded;
    trail?.pass('load');
    const ran: unknown = operation.run(call);
    const result = answerOf(isPromiseLike(ran) ? await ran : ran);
    trail?.pass('run');
    const status = result.status ?? at(operation.status, version) ?? 200;
    if (result.headers) for (const [name, value] of Object.entries(result.headers)) res.setHeader(name, value);
    const rendered =
      result.raw ?? (result.body === undefined ? undefined : parts.reply?.render(version)(result.body, call));
    const text = rendered instanceof Promise ? await rendered : rendered;
    if (options.validateReplies && result.raw === undefined) validateReply(operation, parts.reply, version, text);
    send(res, status, text);
    trail?.pass('render');
  }

  async function serveObserved(observer: RouterObserver, req: IncomingMessage, res: ServerResponse): Promise<void> {
    const trail = new Trail(observer);
    let failure: unknown;
    try {
      await serve(req, res, trail);
    } catch (error) {
      failure = error;
      fault(error, req, res);
    }
    trail.end(req, res, failure);
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

function checkQuery(query: Query<any>, text: string, version: Version): unknown {
  const { value, problems } = query.parse(new URLSearchParams(text), version);
  if (problems.length > 0) throw new InvalidQuery(problems);
  return value;
}

function checkBody(schema: Versioned<any>, body: unknown, version: Version): unknown {
  const checked = schema.check(version).safeParse(body);
  if (!checked.success) throw new InvalidBody(checked.error.issues, body);
  return checked.data;
}

/** The same, but keys that are not known are dropped, each time some are found; other faults count as ever. */
function checkKnownKeys(schema: Versioned<any>, body: unknown, version: Version): unknown {
  const checker = schema.check(version);
  let known = body;
  for (;;) {
    const checked = checker.safeParse(known);
    if (checked.success) return checked.data;
    const { issues } = checked.error;
    const others = issues.filter(({ code }) => code !== 'unrecognized_keys');
    if (others.length > 0) throw new InvalidBody(others, body);
    known = structuredClone(known);
    for (const { path, keys } of issues as readonly z.core.$ZodIssueUnrecognizedKeys[]) {
      const holder = path.reduce<any>((value, key) => value[key], known);
      for (const key of keys) delete holder[key];
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
  if (!reply) throw new InvalidReply(`${name} answers a body but defines no reply`);
  const checked = reply.schema(version).safeParse(JSON.parse(String(text)));
  if (!checked.success) throw new InvalidReply(`${name}: ${checked.error.message}`);
}
