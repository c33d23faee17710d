import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Engine } from '@apistrata/compute-engine';
import { wantedTypes } from '@apistrata/compute-engine/events';
import { computeFault } from '@apistrata/microversion';
import { type Identity, sendUnauthorized } from '../identity/index.js';
import type { Policies } from '../policy/index.js';

export interface EventStreamOptions {
  readonly engine: Engine;
  readonly identity: Identity;
  /** Says who is an administrator. */
  readonly policies: Policies;
  readonly onError?: (error: unknown, req: IncomingMessage) => void;
}

/** Who listens at once, and how often they hear that the connection is alive. */
const MOST_STREAMS = 100;
const ALIVE_MS = 15_000;

function refuse(res: ServerResponse, status: number, message: string): void {
  const { contentType, body } = computeFault({ status, message });
  res.writeHead(status, { 'Content-Type': contentType, 'Content-Length': Buffer.byteLength(body) }).end(body);
}

/** The place behind which a client wants to hear: what it heard last, or asks for; undefined: from now on. */
function placeOf(req: IncomingMessage, query: URLSearchParams): number | undefined {
  const told = req.headers['last-event-id'] ?? query.get('after');
  if (told === null || told === undefined || told === '') return undefined;
  return /^\d{1,15}$/.test(String(told)) ? Number(told) : Number.NaN;
}

/** Returns a test for the types that a request names; undefined, and a 400 is sent, for too many or too long ones. */
function typesOf(res: ServerResponse, query: URLSearchParams): ((type: string) => boolean) | undefined {
  try {
    return wantedTypes(query.getAll('type'));
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    refuse(res, 400, error.message);
    return undefined;
  }
}

/**
 * Events as server-sent events, for administrators: `GET /events?type=instance.*&after=POSITION`. A client that comes back
 * with `Last-Event-ID` misses nothing that is still kept.
 */
export function eventStream({ engine, identity, policies, onError = () => {} }: EventStreamOptions) {
  let open = 0;

  async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const caller = await identity(req);
    if (!caller) return sendUnauthorized(res, identity.uri ?? '/identity');
    if (!policies.isAdmin(caller)) return refuse(res, 403, 'Events are for administrators.');
    if (req.method !== 'GET') return refuse(res, 405, 'Events can only be read.');
    const query = new URL(req.url ?? '', 'http://localhost').searchParams;
    const after = placeOf(req, query);
    if (Number.isNaN(after)) return refuse(res, 400, 'Last-Event-ID and after are places: whole numbers.');
    const wants = typesOf(res, query);
    if (!wants) return;
    if (open >= MOST_STREAMS) return refuse(res, 503, 'Too many read events at this time.');
    await stream(res, after, wants);
  }

  async function stream(res: ServerResponse, after: number | undefined, wants: (type: string) => boolean) {
    const gone = new AbortController();
    res.once('close', () => gone.abort());
    res.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' });
    res.write(':\n\n');
    const alive = setInterval(() => res.writableNeedDrain || res.write(':\n\n'), ALIVE_MS);
    open++;
    try {
      for await (const events of engine.events.read(after, gone.signal)) {
        const text = events
          .filter(({ type }) => wants(type))
          .map(({ position, type, body }) => `id: ${position}\nevent: ${type}\ndata: ${body}\n\n`)
          .join('');
        // Who reads slowly waits in the table, not in memory.
        if (text !== '' && !res.write(text)) await once(res, 'drain', { signal: gone.signal });
      }
    } catch (error) {
      if (!gone.signal.aborted) throw error;
    } finally {
      open--;
      clearInterval(alive);
      res.end();
    }
  }

  return function events(req: IncomingMessage, res: ServerResponse): void {
    serve(req, res).catch((error) => {
      onError(error, req);
      if (res.headersSent) res.destroy();
      else refuse(res, 503, 'Events cannot be read now.');
    });
  };
}
