import type { ServerResponse } from 'node:http';

/** What is done when an answer ends, or when it is known that nobody reads it any more. */
export interface AnswerEnd {
  /** The handler ended its answer, also one that nobody reads. The end waits for what this returns; it never rejects. */
  readonly ended: () => Promise<void> | undefined;
  /** The client left, and the handler has not ended its answer yet: it may still be at work. */
  readonly left: () => void;
}

/**
 * Watches the end of an answer. `ended` is called once, when the handler calls `res.end()`, so that it is heard of
 * after the client has hung up too, when no event tells it.
 */
export function watchAnswerEnd(res: ServerResponse, { ended, left }: AnswerEnd): void {
  const end = res.end as (...args: unknown[]) => ServerResponse;
  let heard = false;
  let waits = false;

  res.end = function endOnceSettled(...args: unknown[]): ServerResponse {
    if (waits) return res;
    if (heard) return end.apply(res, args);
    heard = true;
    const settled = ended();
    if (!settled) return end.apply(res, args);
    fixHead(res, args);
    waits = true;
    settled
      .then(() => {
        waits = false;
        end.apply(res, args);
      })
      .catch((error: Error) => res.destroy(error));
    return res;
  } as ServerResponse['end'];

  res.once('close', () => {
    if (heard) return;
    if (!res.writableEnded) return left();
    // Somebody ended it past us, with a function taken from elsewhere.
    heard = true;
    void ended();
  });
}

const HEAD_ONLY = new Set([204, 304]);
const LENGTH_HEADERS = ['Content-Length', 'Transfer-Encoding', 'Trailer'];

/**
 * Fixes status and headers of an answer that waits for its end, as `end` does at once: whoever comes later finds
 * `headersSent` and cannot change them. They leave together with the end.
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
