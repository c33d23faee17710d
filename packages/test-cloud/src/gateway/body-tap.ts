import type { IncomingMessage, ServerResponse } from 'node:http';

/** The maximum sizes of stored bodies. A request with user data fits; long lists are not useful in a journal. */
const MAX_REQUEST_BYTES = 64 * 1024;
const MAX_RESPONSE_BYTES = 16 * 1024;

/** The bodies of a request and its response, if they are JSON of limited size. */
export interface TappedBodies {
  readonly requestBody: () => unknown;
  readonly responseBody: () => unknown;
  /** The received text, truncated if it is too long; '' if it is not JSON. */
  readonly requestText: () => string;
  /** The sent text; '' if it is not JSON or too long. */
  readonly responseText: () => string;
  /** Resolves when the body has arrived or exceeds the limit. Other readers still receive all data. */
  readonly arrived: Promise<void>;
}

/** The maximum sizes of stored bodies. */
export interface TapLimits {
  readonly maxRequestBytes?: number;
  readonly maxResponseBytes?: number;
}

/** Parses JSON; returns undefined if it is malformed. */
export function parsed(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Records the bodies of a request and its response without changing them. */
export function tapBodies(
  req: IncomingMessage,
  res: ServerResponse,
  { maxRequestBytes = MAX_REQUEST_BYTES, maxResponseBytes = MAX_RESPONSE_BYTES }: TapLimits = {},
): TappedBodies {
  const incoming: Buffer[] = [];
  const outgoing: Buffer[] = [];
  let incomingBytes = 0;
  let outgoingBytes = 0;
  const isJson = /json|^$/.test(req.headers['content-type'] ?? '');

  const arrived = new Promise<void>((resolve) => {
    const push = req.push.bind(req);
    req.push = (chunk, encoding) => {
      if (chunk === null) resolve();
      else if (isJson && incomingBytes < maxRequestBytes) {
        incoming.push(Buffer.from(chunk));
        incomingBytes += chunk.length;
      }
      const more = push(chunk, encoding);
      // The buffer is full: more data arrives only when a reader starts.
      if (!more) resolve();
      return more;
    };
    if (req.complete) resolve();
    req.once('close', resolve);
  });

  const record = (chunk: unknown, encoding: unknown) => {
    if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) return;
    outgoingBytes += chunk.length;
    if (outgoingBytes > maxResponseBytes || !/json/.test(String(res.getHeader('content-type') ?? ''))) return;
    outgoing.push(
      Buffer.from(chunk as string, typeof encoding === 'string' ? (encoding as BufferEncoding) : undefined),
    );
  };
  const write = res.write.bind(res);
  const end = res.end.bind(res);
  res.write = ((chunk: unknown, ...rest: unknown[]) => {
    record(chunk, rest[0]);
    return (write as (...all: unknown[]) => boolean)(chunk, ...rest);
  }) as typeof res.write;
  res.end = ((chunk: unknown, ...rest: unknown[]) => {
    record(chunk, rest[0]);
    return (end as (...all: unknown[]) => typeof res)(chunk, ...rest);
  }) as typeof res.end;

  const requestText = () => Buffer.concat(incoming).toString('utf8');
  const responseText = () => (outgoingBytes > maxResponseBytes ? '' : Buffer.concat(outgoing).toString('utf8'));
  return {
    arrived,
    requestText,
    responseText,
    requestBody: () => parsed(requestText()),
    responseBody: () => parsed(responseText()),
  };
}
