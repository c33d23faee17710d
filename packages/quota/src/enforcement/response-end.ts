import type { ServerResponse } from 'node:http';

/** Listeners for the end of a response and for a disconnect of the client. */
export interface ResponseEnd {
  /**
   * The handler ended the response, even if the client has disconnected. The end waits for the returned promise, which
   * never rejects.
   */
  readonly ended: () => Promise<void> | undefined;
  /** The client disconnected before the handler ended the response; the handler may still be running. */
  readonly left: () => void;
}

/** An observed response: its observer, and the `end` that was replaced. */
interface Observation extends ResponseEnd {
  readonly end: (...args: unknown[]) => ServerResponse;
  /** The state of an earlier observer of the same response. */
  readonly outer: Observation | undefined;
  received: boolean;
  waits: boolean;
}

const OBSERVATION = Symbol('observed end');

type ObservedResponse = ServerResponse & { [OBSERVATION]?: Observation | undefined };

/** Calls the replaced `end`, which may be that of an earlier observer. */
function passOn(res: ObservedResponse, observation: Observation, args: readonly unknown[]): ServerResponse {
  res[OBSERVATION] = observation.outer;
  try {
    return observation.end.apply(res, [...args]);
  } finally {
    res[OBSERVATION] = observation;
  }
}

/** One function for all responses: a closure for each makes V8 keep whole requests until the next full collection. */
function endOnceSettled(this: ObservedResponse, ...args: unknown[]): ServerResponse {
  const observation = this[OBSERVATION] as Observation;
  if (observation.waits) return this;
  if (observation.received) return passOn(this, observation, args);
  observation.received = true;
  const settled = observation.ended();
  if (!settled) return passOn(this, observation, args);
  fixHead(this, args);
  observation.waits = true;
  settled
    .then(() => {
      observation.waits = false;
      passOn(this, observation, args);
    })
    .catch((error: Error) => this.destroy(error));
  return this;
}

/**
 * Observes the end of a response. `ended` is called once, when the handler calls `res.end()`: after a disconnect, Node
 * emits no event for that call.
 */
export function watchResponseEnd(res: ObservedResponse, { ended, left }: ResponseEnd): void {
  const end = res.end as Observation['end'];
  const observation: Observation = { ended, left, end, outer: res[OBSERVATION], received: false, waits: false };
  res[OBSERVATION] = observation;
  res.end = endOnceSettled as ServerResponse['end'];

  res.once('close', () => {
    if (observation.received) return;
    if (!res.writableEnded) return left();
    // Other code ended the response with a reference to the original `end`.
    observation.received = true;
    void ended();
  });
}

const HEAD_ONLY = new Set([204, 304]);
const LENGTH_HEADERS = ['Content-Length', 'Transfer-Encoding', 'Trailer'];

/**
 * Sends the status and headers into the buffer of a response whose end is delayed, as `end` does immediately: later
 * code finds `headersSent` and cannot change them. They are sent together with the end.
 */
function fixHead(res: ServerResponse, [chunk, encoding]: readonly unknown[]): void {
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
