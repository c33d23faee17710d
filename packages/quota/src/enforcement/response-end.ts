import type { ServerResponse } from 'node:http';

/** Listeners for the end of a response and for a disconnect of the client. */
export interface ResponseEndListeners {
  /**
   * Called when the handler ends the response, even if the client has disconnected. The end waits for the returned promise,
   * which must not reject.
   */
  readonly onEnd: () => Promise<void> | undefined;
  /** Called if the client disconnects before the handler ends the response; the handler may still be running. */
  readonly onDisconnect: () => void;
}

/** The state of an observed response: the listeners, and the `end` that was replaced. */
interface Observation extends ResponseEndListeners {
  readonly end: (...args: unknown[]) => ServerResponse;
  /** The state of an earlier observer of the same response. */
  readonly outer: Observation | undefined;
  hasEnded: boolean;
  isWaiting: boolean;
}

const OBSERVATION = Symbol('observed end');

type ObservedResponse = ServerResponse & { [OBSERVATION]?: Observation | undefined };

/** Calls the replaced `end`, which may be an earlier observer's. */
function callReplacedEnd(res: ObservedResponse, observation: Observation, args: readonly unknown[]): ServerResponse {
  res[OBSERVATION] = observation.outer;
  try {
    return observation.end.apply(res, [...args]);
  } finally {
    res[OBSERVATION] = observation;
  }
}

/** Shared by all responses: with a closure for each, V8 retains whole requests until the next full garbage collection. */
function endOnceSettled(this: ObservedResponse, ...args: unknown[]): ServerResponse {
  const observation = this[OBSERVATION] as Observation;
  if (observation.isWaiting) return this;
  if (observation.hasEnded) return callReplacedEnd(this, observation, args);
  observation.hasEnded = true;
  const settled = observation.onEnd();
  if (!settled) return callReplacedEnd(this, observation, args);
  writeHeadNow(this, args);
  observation.isWaiting = true;
  settled
    .then(() => {
      observation.isWaiting = false;
      callReplacedEnd(this, observation, args);
    })
    .catch((error: Error) => this.destroy(error));
  return this;
}

/**
 * Observes the end of a response. `onEnd` is called once, when the handler calls `res.end()`, because Node does not emit an
 * event for a call after a disconnect.
 */
export function watchResponseEnd(res: ObservedResponse, { onEnd, onDisconnect }: ResponseEndListeners): void {
  const end = res.end as Observation['end'];
  const outer = res[OBSERVATION];
  const observation: Observation = { onEnd, onDisconnect, end, outer, hasEnded: false, isWaiting: false };
  res[OBSERVATION] = observation;
  res.end = endOnceSettled as ServerResponse['end'];

  res.once('close', () => {
    if (observation.hasEnded) return;
    if (!res.writableEnded) return onDisconnect();
    // Other code ended the response with a reference to the original `end`.
    observation.hasEnded = true;
    void onEnd();
  });
}

const HEAD_ONLY = new Set([204, 304]);
const LENGTH_HEADERS = ['Content-Length', 'Transfer-Encoding', 'Trailer'];

/**
 * Writes the status and headers of a response whose end is delayed, as `end` would have done, so that later code cannot change
 * them. They are sent together with the end.
 */
function writeHeadNow(res: ServerResponse, [chunk, encoding]: readonly unknown[]): void {
  if (res.headersSent) return;
  const hasBody = res.req.method !== 'HEAD' && !HEAD_ONLY.has(res.statusCode);
  if (hasBody && !LENGTH_HEADERS.some((name) => res.hasHeader(name))) {
    res.setHeader('Content-Length', lengthOf(chunk, encoding));
  }
  res.writeHead(res.statusCode);
}

function lengthOf(chunk: unknown, encoding: unknown): number {
  if (typeof chunk === 'string') {
    return Buffer.byteLength(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8');
  }
  return chunk instanceof Uint8Array ? chunk.byteLength : 0;
}
