import type { IncomingMessage, ServerResponse } from 'node:http';

/** What of a body is kept: user data fits into a request; long lists are no use in a journal. */
const MOST_REQUEST_BYTES = 64 * 1024;
const MOST_RESPONSE_BYTES = 16 * 1024;

/** What went over the wire, as far as it is JSON of a readable size. */
export interface Tapped {
  readonly requestBody: () => unknown;
  readonly responseBody: () => unknown;
  /** The same as it came; '' for what is no JSON, or too long. */
  readonly requestText: () => string;
  readonly responseText: () => string;
  /** Resolves when the body has arrived, or when there is too much of it to wait for. Nothing is taken from readers. */
  readonly arrived: Promise<void>;
}

/** Longer bodies are not kept. */
export interface TapLimits {
  readonly mostRequestBytes?: number;
  readonly mostResponseBytes?: number;
}

/** JSON; undefined for what is none. */
export function parsed(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Listens in on a request and its answer without touching either. */
export function tapBodies(
  req: IncomingMessage,
  res: ServerResponse,
  { mostRequestBytes = MOST_REQUEST_BYTES, mostResponseBytes = MOST_RESPONSE_BYTES }: TapLimits = {},
): Tapped {
  const incoming: Buffer[] = [];
  const outgoing: Buffer[] = [];
  let incomingBytes = 0;
  let outgoingBytes = 0;
  const json = /json|^$/.test(req.headers['content-type'] ?? '');

  const arrived = new Promise<void>((resolve) => {
    const push = req.push.bind(req);
    req.push = (chunk, encoding) => {
      if (chunk === null) resolve();
      else if (json && incomingBytes < mostRequestBytes) {
        incoming.push(Buffer.from(chunk));
        incomingBytes += chunk.length;
      }
      const more = push(chunk, encoding);
      // A reader has to begin before more comes.
      if (!more) resolve();
      return more;
    };
    if (req.complete) resolve();
    req.once('close', resolve);
  });

  const keep = (chunk: unknown, encoding: unknown) => {
    if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) return;
    outgoingBytes += chunk.length;
    if (outgoingBytes > mostResponseBytes || !/json/.test(String(res.getHeader('content-type') ?? ''))) return;
    outgoing.push(
      Buffer.from(chunk as string, typeof encoding === 'string' ? (encoding as BufferEncoding) : undefined),
    );
  };
  const write = res.write.bind(res);
  const end = res.end.bind(res);
  res.write = ((chunk: unknown, ...rest: unknown[]) => {
    keep(chunk, rest[0]);
    return (write as (...all: unknown[]) => boolean)(chunk, ...rest);
  }) as typeof res.write;
  res.end = ((chunk: unknown, ...rest: unknown[]) => {
    keep(chunk, rest[0]);
    return (end as (...all: unknown[]) => typeof res)(chunk, ...rest);
  }) as typeof res.end;

  const requestText = () => Buffer.concat(incoming).toString('utf8');
  const responseText = () => (outgoingBytes > mostResponseBytes ? '' : Buffer.concat(outgoing).toString('utf8'));
  return {
    arrived,
    requestText,
    responseText,
    requestBody: () => parsed(requestText()),
    responseBody: () => parsed(responseText()),
  };
}
