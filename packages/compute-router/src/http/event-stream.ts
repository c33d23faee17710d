import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Engine } from '@apistrata/compute-engine';
import { subscribedTypes } from '@apistrata/compute-engine/events';
import { computeFault } from '@apistrata/microversion';
import { type Identity, sendUnauthorized } from '../identity/index.js';
import type { Policies } from '../policy/index.js';
import { applyRateLimit, RateLimitExceeded, type RateLimiter } from './rate-limited.js';

export interface EventStreamOptions {
  readonly engine: Engine;
  readonly identity: Identity;
  /** Policies that determine which callers are administrators. */
  readonly policies: Policies;
  /** Rate limiter that counts each stream as one request by its caller. */
  readonly rateLimit?: RateLimiter;
  readonly onError?: (error: unknown, req: IncomingMessage) => void;
}

/** The maximum number of concurrent event streams. */
const MAX_STREAMS = 100;
/** The interval between keep-alive comments in an event stream. */
const KEEP_ALIVE_MS = 15_000;

function sendError(res: ServerResponse, status: number, message: string, retryAfterSeconds?: number): void {
  const { contentType, body } = computeFault({ status, message, retryAfterSeconds });
  if (retryAfterSeconds !== undefined) res.setHeader('Retry-After', retryAfterSeconds);
  res.writeHead(status, { 'Content-Type': contentType, 'Content-Length': Buffer.byteLength(body) }).end(body);
}

/**
 * Returns the position after which the event stream starts: the value of `Last-Event-ID` or of the query parameter
 * `after`. Returns undefined if the client requests only new events, and NaN if the position is malformed.
 */
function startPosition(req: IncomingMessage, query: URLSearchParams): number | undefined {
  const position = req.headers['last-event-id'] ?? query.get('after');
  if (position === null || position === undefined || position === '') return undefined;
  return /^\d{1,15}$/.test(String(position)) ? Number(position) : Number.NaN;
}

/**
 * Returns a predicate that accepts the event types in the query. If there are too many types, or one is too long, sends
 * a 400 response and returns undefined.
 */
function parseTypeFilter(res: ServerResponse, query: URLSearchParams): ((type: string) => boolean) | undefined {
  try {
    return subscribedTypes(query.getAll('type'));
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    sendError(res, 400, error.message);
    return undefined;
  }
}

/**
 * Creates the handler that sends notifications to administrators as server-sent events: `GET
 * /events?type=instance.*&after=POSITION`. A client that reconnects with `Last-Event-ID` receives all later events that
 * are still stored.
 */
export function eventStream({ engine, identity, policies, rateLimit, onError = () => {} }: EventStreamOptions) {
  let openStreams = 0;

  async function serveStream(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const caller = await identity(req);
    if (!caller) return sendUnauthorized(res, identity.uri ?? '/identity');
    const pendingVerdict = rateLimit?.count(caller);
    if (pendingVerdict) applyRateLimit(await pendingVerdict, res);
    if (!policies.isAdmin(caller)) return sendError(res, 403, 'Only administrators can read events.');
    if (req.method !== 'GET') return sendError(res, 405, 'Only GET is allowed: events are read-only.');
    const query = new URL(req.url ?? '', 'http://localhost').searchParams;
    const after = startPosition(req, query);
    if (Number.isNaN(after))
      return sendError(
        res,
        400,
        'The header Last-Event-ID and the parameter after must be event positions: non-negative integers.',
      );
    const acceptsType = parseTypeFilter(res, query);
    if (!acceptsType) return;
    if (openStreams >= MAX_STREAMS) return sendError(res, 503, 'Too many clients are reading events.');
    await streamEvents(res, after, acceptsType);
  }

  async function streamEvents(res: ServerResponse, after: number | undefined, acceptsType: (type: string) => boolean) {
    const closeController = new AbortController();
    res.once('close', () => closeController.abort());
    res.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' });
    res.write(':\n\n');
    const keepAlive = setInterval(() => res.writableNeedDrain || res.write(':\n\n'), KEEP_ALIVE_MS);
    openStreams++;
    try {
      for await (const events of engine.events.read(after, closeController.signal)) {
        const chunk = events
          .filter(({ type }) => acceptsType(type))
          .map(({ position, type, body }) => `id: ${position}\nevent: ${type}\ndata: ${body}\n\n`)
          .join('');
        // If the client reads slowly, pending events stay in the database table instead of memory.
        if (chunk !== '' && !res.write(chunk)) await once(res, 'drain', { signal: closeController.signal });
      }
    } catch (error) {
      if (!closeController.signal.aborted) throw error;
    } finally {
      openStreams--;
      clearInterval(keepAlive);
      res.end();
    }
  }

  return function events(req: IncomingMessage, res: ServerResponse): void {
    serveStream(req, res).catch((error) => {
      if (error instanceof RateLimitExceeded) return sendError(res, 429, error.message, error.retryAfterSeconds);
      onError(error, req);
      if (res.headersSent) res.destroy();
      else sendError(res, 503, 'Events are temporarily unavailable.');
    });
  };
}
