import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';

/** A response that contains a page or an asset. */
export interface Reply {
  readonly status: number;
  readonly type: string;
  readonly text: string | Uint8Array;
  /** Set if the same object is sent repeatedly, so that its text is compressed only once. */
  readonly isCacheable?: true;
  readonly etag?: string;
}

const compressed = new WeakMap<Reply, Buffer>();

function compressedOf(reply: Reply): Buffer {
  let bytes = compressed.get(reply);
  if (!bytes) compressed.set(reply, (bytes = gzipSync(reply.text)));
  return bytes;
}

/** Sends a response, compressed if the response is cacheable and the client accepts compression. */
export function send(req: IncomingMessage, res: ServerResponse, reply: Reply, policy: string): void {
  const { status, type, text, isCacheable, etag } = reply;
  const validators = { ...(isCacheable && { Vary: 'Accept-Encoding' }), ...(etag !== undefined && { ETag: etag }) };
  if (etag !== undefined && req.headers['if-none-match'] === etag) {
    res.writeHead(304, validators).end();
    return;
  }
  const gzip =
    isCacheable && /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(String(req.headers['accept-encoding'] ?? ''));
  const content = gzip ? compressedOf(reply) : Buffer.from(text as string);
  res.writeHead(status, {
    'Content-Type': type,
    'Content-Length': content.length,
    ...(gzip && { 'Content-Encoding': 'gzip' }),
    'Content-Security-Policy': policy,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'same-origin',
    ...validators,
  });
  res.end(req.method === 'HEAD' ? undefined : content);
}
