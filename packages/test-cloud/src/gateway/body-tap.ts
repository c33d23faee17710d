import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * The maximum sizes of bodies in the journal. Requests with user data fit; storing longer bodies would waste memory.
 */
const MAX_REQUEST_BYTES = 64 * 1024;
const MAX_RESPONSE_BYTES = 16 * 1024;

/** The recorded bodies of a request and its response. */
export interface TappedBodies {
  readonly requestBody: () => unknown;
  readonly responseBody: () => unknown;
  /** The request body, truncated at the limit; '' if it is not JSON. */
  readonly requestText: () => string;
  /** The response body; '' if it is not JSON or exceeds the limit. */
  readonly responseText: () => string;
  /** Resolves when the request body has arrived or exceeds the limit. Other readers still receive the complete body. */
  readonly arrived: Promise<void>;
}

/** The maximum sizes of stored bodies. */
export interface TapLimits {
  readonly maxRequestBytes?: number;
  readonly maxResponseBytes?: number;
}

/** Parses JSON; returns undefined if it is malformed. */
export function parseJson(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Records the JSON bodies of a request and its response, and passes them on unchanged. */
export function tapBodies(
  req: IncomingMessage,
  res: ServerResponse,
  { maxRequestBytes = MAX_REQUEST_BYTES, maxResponseBytes = MAX_RESPONSE_BYTES }: TapLimits = {},
): TappedBodies {
  const requestChunks: Buffer[] = [];
  const responseChunks: Buffer[] = [];
  let incomingBytes = 0;
  let outgoingBytes = 0;
  const isJson = /json|^$/.test(req.headers['content-type'] ?? '');

  const arrived = new Promise<void>((resolve) => {
    const originalPush = req.push.bind(req);
    req.push = (chunk, encoding) => {
      if (chunk === null) resolve();
      else if (isJson && incomingBytes < maxRequestBytes) {
        requestChunks.push(Buffer.from(chunk));
        incomingBytes += chunk.length;
      }
      const canAcceptMore = originalPush(chunk, encoding);
      // The stream's buffer is full, so more data arrives only when a reader starts.
      if (!canAcceptMore) resolve();
      return canAcceptMore;
    };
    if (req.complete) resolve();
    req.once('close', resolve);
  });

  const recordChunk = (chunk: unknown, encoding: unknown) => {
    if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) return;
    outgoingBytes += chunk.length;
    if (outgoingBytes > maxResponseBytes || !/json/.test(String(res.getHeader('content-type') ?? ''))) return;
    responseChunks.push(
      Buffer.from(chunk as string, typeof encoding === 'string' ? (encoding as BufferEncoding) : undefined),
    );
  };
  const originalWrite = res.write.bind(res);
  const originalEnd = res.end.bind(res);
  res.write = ((chunk: unknown, ...rest: unknown[]) => {
    recordChunk(chunk, rest[0]);
    return (originalWrite as (...all: unknown[]) => boolean)(chunk, ...rest);
  }) as typeof res.write;
  res.end = ((chunk: unknown, ...rest: unknown[]) => {
    recordChunk(chunk, rest[0]);
    return (originalEnd as (...all: unknown[]) => typeof res)(chunk, ...rest);
  }) as typeof res.end;

  const requestText = () => Buffer.concat(requestChunks).toString('utf8');
  const responseText = () => (outgoingBytes > maxResponseBytes ? '' : Buffer.concat(responseChunks).toString('utf8'));
  return {
    arrived,
    requestText,
    responseText,
    requestBody: () => parseJson(requestText()),
    responseBody: () => parseJson(responseText()),
  };
}
