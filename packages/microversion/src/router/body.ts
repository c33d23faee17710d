import type { IncomingMessage } from 'node:http';
import { RequestError } from '../errors.js';
import { checkJsonText, checkJsonValue, type JsonLimits } from '../json-limits.js';

/** Media types read as JSON besides those an API adds; no type at all and plain text are read as JSON too. */
const JSON_TYPES = new Set(['', 'application/json', 'text/plain']);

export interface BodyOptions {
  readonly limitBytes: number;
  /** Vendor media types that are JSON. */
  readonly mediaTypes: readonly string[];
  readonly jsonLimits: JsonLimits;
}

/** Throws {@link RequestError} (415) unless the content type is one that is read as JSON. */
export function checkMediaType(req: IncomingMessage, options: BodyOptions): void {
  const type = (req.headers['content-type'] ?? '').replace(/;.*/s, '').trim().toLowerCase();
  if (!JSON_TYPES.has(type) && !options.mediaTypes.includes(type)) {
    throw new RequestError('UNSUPPORTED_MEDIA_TYPE', 'Unsupported Content-Type');
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads the whole body; undefined when there is none. What an earlier body parser read is taken as it is. All that is
 * read keeps to the limits of structure, so that whoever walks it may do so by recursion.
 */
export async function readBody(req: IncomingMessage, options: BodyOptions): Promise<unknown> {
  const parsed = (req as IncomingMessage & { body?: unknown }).body;
  if (parsed !== undefined && req.complete) {
    checkJsonValue(parsed, options.jsonLimits);
    return parsed;
  }
  const bytes = await receive(req, options);
  if (bytes.length === 0) return undefined;
  try {
    const text = utf8.decode(bytes);
    checkJsonText(text, options.jsonLimits);
    return JSON.parse(text);
  } catch (error) {
    throw error instanceof RequestError ? error : new RequestError('MALFORMED_BODY', 'Malformed request body');
  }
}

function receive(req: IncomingMessage, options: BodyOptions): Promise<Buffer> {
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
      const [first] = chunks;
      resolve(first && chunks.length === 1 ? first : Buffer.concat(chunks));
    });
    // A client that goes away is no failure of the service, and nobody is left to read the answer.
    const cutOff = () => {
      if (!req.complete) reject(new RequestError('MALFORMED_BODY', 'the request ended before its body was complete'));
    };
    req.once('error', cutOff);
    req.once('close', cutOff);
  });
}

function tooLarge(options: BodyOptions): RequestError {
  return new RequestError('BODY_TOO_LARGE', `Request is too large: the limit is ${options.limitBytes} bytes`);
}
