import type { ServerResponse } from 'node:http';

/** Listeners for the end of a response and for a client disconnect. */
export interface ResponseEndListeners {
  /**
   * Called when the handler ends the response, even if the client has disconnected. The response ends only after the
   * returned promise has resolved. The promise must not reject.
   */
  readonly onEnd: () => Promise<void> | undefined;
  /** Called if the client disconnects before the handler ends the response; the handler may still be running. */
  readonly onDisconnect: () => void;
}

/** The state of an observed response: its listeners, and the `end` method that was replaced. */
interface Observation extends ResponseEndListeners {
  readonly end: (...args: unknown[]) => ServerResponse;
  /** The state that an earlier observer has stored on the same response. */
  readonly outer: Observation | undefined;
  hasEnded: boolean;
  isWaiting: boolean;
}

const OBSERVATION_KEY = Symbol('observed end');

type ObservedResponse = ServerResponse & { [OBSERVATION_KEY]?: Observation | undefined };

/** Calls the `end` method that was replaced, which may belong to an earlier observer. */
function callReplacedEnd(res: ObservedResponse, observation: Observation, args: readonly unknown[]): ServerResponse {
  res[OBSERVATION_KEY] = observation.outer;
  try {
    return observation.end.apply(res, [...args]);
  } finally {
    res[OBSERVATION_KEY] = observation;
  }
}

/**
 * All responses share this function. With a closure for each response, V8 would retain whole requests until the next
 * full garbage collection.
 */
function endOnceSettled(this: ObservedResponse, ...args: unknown[]): ServerResponse {
  const observation = this[OBSERVATION_KEY] as Observation;
  if (observation.isWaiting) return this;
  if (observation.hasEnded) return callReplacedEnd(this, observation, args);
  observation.hasEnded = true;
  const settlement = observation.onEnd();
  if (!settlement) return callReplacedEnd(this, observation, args);
  writeHeadNow(this, args);
  observation.isWaiting = true;
  settlement
    .then(() => {
      observation.isWaiting = false;
      callReplacedEnd(this, observation, args);
    })
    .catch((error: Error) => this.destroy(error));
  return this;
}

/**
 * Observes the end of a response. `onEnd` is called once, when the handler calls `res.end()`. The method is replaced
 * because Node does not emit an event if it is called after a disconnect.
 */
export function watchResponseEnd(res: ObservedResponse, { onEnd, onDisconnect }: ResponseEndListeners): void {
  const end = res.end as Observation['end'];
  const outer = res[OBSERVATION_KEY];
  const observation: Observation = { onEnd, onDisconnect, end, outer, hasEnded: false, isWaiting: false };
  res[OBSERVATION_KEY] = observation;
  res.end = endOnceSettled as ServerResponse['end'];

  res.once('close', () => {
    if (observation.hasEnded) return;
    if (!res.writableEnded) return onDisconnect();
    // Other code has ended the response through a reference to the original `end` method.
    observation.hasEnded = true;
    void onEnd();
  });
}

const STATUSES_WITHOUT_BODY = new Set([204, 304]);
const LENGTH_HEADERS = ['Content-Length', 'Transfer-Encoding', 'Trailer'];

/**
 * Writes the status and headers of a response whose end is delayed, as `end` would have done, so that later code cannot
 * change them. They are sent together with the body.
 */
function writeHeadNow(res: ServerResponse, [chunk, encoding]: readonly unknown[]): void {
  if (res.headersSent) return;
  const hasBody = res.req.method !== 'HEAD' && !STATUSES_WITHOUT_BODY.has(res.statusCode);
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
