import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';

/** A response that contains a page or an asset. */
export interface PageResponse {
  readonly status: number;
  readonly type: string;
  readonly text: string | Uint8Array;
  /** Set if the same object is sent repeatedly. Its text is then compressed only once. */
  readonly isCacheable?: true;
  readonly etag?: string;
}

const compressedTexts = new WeakMap<PageResponse, Buffer>();

function compressOnce(reply: PageResponse): Buffer {
  let bytes = compressedTexts.get(reply);
  if (!bytes) compressedTexts.set(reply, (bytes = gzipSync(reply.text)));
  return bytes;
}

/** Sends a response, compressed if the response is cacheable and the client accepts compression. */
export function sendResponse(req: IncomingMessage, res: ServerResponse, reply: PageResponse, policy: string): void {
  const { status, type, text, isCacheable, etag } = reply;
  const cacheHeaders = { ...(isCacheable && { Vary: 'Accept-Encoding' }), ...(etag !== undefined && { ETag: etag }) };
  if (etag !== undefined && req.headers['if-none-match'] === etag) {
    res.writeHead(304, cacheHeaders).end();
    return;
  }
  const isCompressed =
    isCacheable && /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(String(req.headers['accept-encoding'] ?? ''));
  const content = isCompressed ? compressOnce(reply) : Buffer.from(text as string);
  res.writeHead(status, {
    'Content-Type': type,
    'Content-Length': content.length,
    ...(isCompressed && { 'Content-Encoding': 'gzip' }),
    'Content-Security-Policy': policy,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'same-origin',
    ...cacheHeaders,
  });
  res.end(req.method === 'HEAD' ? undefined : content);
}
