import type { IncomingMessage } from 'node:http';
import { checkJsonText, checkJsonValue, type JsonLimits, RequestError } from '@apistrata/microversion';

/** Media types that are always parsed as JSON. The empty string stands for a missing Content-Type header. */
const JSON_TYPES = new Set(['', 'application/json', 'text/plain']);

export interface BodyOptions {
  readonly limitBytes: number;
  /** Additional media types that are parsed as JSON, such as vendor types. */
  readonly mediaTypes: readonly string[];
  readonly jsonLimits: JsonLimits;
}

/** Validates the Content-Type header. @throws RequestError (415) if bodies of this type are not parsed as JSON */
export function checkMediaType(req: IncomingMessage, options: BodyOptions): void {
  const type = (req.headers['content-type'] ?? '').replace(/;.*/s, '').trim().toLowerCase();
  if (!JSON_TYPES.has(type) && !options.mediaTypes.includes(type)) {
    throw new RequestError('UNSUPPORTED_MEDIA_TYPE', 'Unsupported Content-Type');
  }
}

const utf8Decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads and parses the full request body; undefined if there is none. A body that an earlier parser has read is used
 * unchanged. Enforces the limits on nesting and on the number of values, so that later code may be recursive.
 */
export async function readBody(req: IncomingMessage, options: BodyOptions): Promise<unknown> {
  const parsedBody = (req as IncomingMessage & { body?: unknown }).body;
  if (parsedBody !== undefined && req.complete) {
    checkJsonValue(parsedBody, options.jsonLimits);
    return parsedBody;
  }
  const bytes = await receiveBytes(req, options);
  if (bytes.length === 0) return undefined;
  try {
    const text = utf8Decoder.decode(bytes);
    checkJsonText(text, options.jsonLimits);
    return JSON.parse(text);
  } catch (error) {
    throw error instanceof RequestError ? error : new RequestError('MALFORMED_BODY', 'Malformed request body');
  }
}

function receiveBytes(req: IncomingMessage, options: BodyOptions): Promise<Buffer> {
  if (Number(req.headers['content-length']) > options.limitBytes) return Promise.reject(tooLargeError(options));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    req.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > options.limitBytes) {
        req.removeAllListeners('data');
        req.resume();
        reject(tooLargeError(options));
      } else chunks.push(chunk);
    });
    req.once('end', () => {
      const [first] = chunks;
      resolve(first && chunks.length === 1 ? first : Buffer.concat(chunks));
    });
    // A client disconnect is not a failure of the service: it is reported as a malformed request, and the client cannot
    // receive the response.
    const rejectIncomplete = () => {
      if (!req.complete) reject(new RequestError('MALFORMED_BODY', 'the request ended before its body was complete'));
    };
    req.once('error', rejectIncomplete);
    req.once('close', rejectIncomplete);
  });
}

function tooLargeError(options: BodyOptions): RequestError {
  return new RequestError('BODY_TOO_LARGE', `Request is too large: the limit is ${options.limitBytes} bytes`);
}
