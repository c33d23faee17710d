import type { IncomingMessage } from 'node:http';
import { BodyTooLarge, MalformedBody, UnsupportedMediaType } from './errors.js';

/** Media types read as JSON besides those an API adds; no type at all and plain text are read as JSON too. */
const JSON_TYPES = new Set(['', 'application/json', 'text/plain']);

export interface BodyOptions {
  readonly limitBytes: number;
  /** Vendor media types that are JSON. */
  readonly mediaTypes: readonly string[];
}

/** Throws {@link UnsupportedMediaType} unless the content type is one that is read as JSON. */
export function checkMediaType(req: IncomingMessage, options: BodyOptions): void {
  const type = (req.headers['content-type'] ?? '').split(';', 1)[0]!.trim().toLowerCase();
  if (!JSON_TYPES.has(type) && !options.mediaTypes.includes(type)) {
    throw new UnsupportedMediaType(`Unsupported Content-Type`);
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Reads the whole body; undefined when there is none. What an earlier body parser read is taken as it is. */
export function readBody(req: IncomingMessage, options: BodyOptions): Promise<unknown> {
  const parsed = (req as IncomingMessage & { body?: unknown }).body;
  if (parsed !== undefined && req.complete) return Promise.resolve(parsed);
  if (Number(req.headers['content-length']) > options.limitBytes) return Promise.reject(tooLarge(options));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    req.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > options.limitBytes) {
        req.removeAllListeners('data');
        req.resume();
        reject(tooLarge(options));
      } else chunks.push(chunk);
    });
    req.once('end', () => {
      try {
        resolve(
          size === 0 ? undefined : JSON.parse(utf8.decode(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))),
        );
      } catch {
        reject(new MalformedBody('Malformed request body'));
      }
    });
    req.once('error', reject);
    req.once('close', () => {
      if (!req.complete) reject(new MalformedBody('the request ended before its body was complete'));
    });
  });
}

function tooLarge(options: BodyOptions): BodyTooLarge {
  return new BodyTooLarge(`Request is too large: the limit is ${options.limitBytes} bytes`);
}
