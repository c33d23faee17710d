import type { IncomingMessage } from 'node:http';
import { QuotaError } from '../errors.js';
import { ISSUE_PREFIX, RejectedRequest } from './router-response.js';

/** The error for a client that disconnected before its request body was complete. No response can be sent. */
export class ClientDisconnected extends QuotaError {
  constructor(options: ErrorOptions) {
    super('CLIENT_DISCONNECTED', 'The client disconnected before the request body was complete', options);
  }
}

/** The value to which an earlier body parser has converted the request body. */
export class ParsedBody {
  constructor(readonly value: unknown) {}
}

/**
 * Reads the request body as bytes. If an earlier body parser has converted it to a value, returns that value.
 *
 * @throws RejectedRequest (413) if the body exceeds the limit; ClientDisconnected if the client disconnects
 */
export async function readBody(
  req: IncomingMessage & { readonly body?: unknown },
  limitBytes: number,
): Promise<Buffer | ParsedBody> {
  if (req.readableEnded && req.body !== undefined) {
    const { body } = req;
    if (typeof body === 'string') return Buffer.from(body);
    return Buffer.isBuffer(body) ? body : new ParsedBody(body);
  }
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of req) {
      size += (chunk as Buffer).length;
      // Node reads and discards the rest of the body after the response.
      if (size > limitBytes)
        throw new RejectedRequest(413, `${ISSUE_PREFIX} The body has more than ${limitBytes} bytes.`);
      chunks.push(chunk as Buffer);
    }
  } catch (error) {
    throw error instanceof RejectedRequest ? error : new ClientDisconnected({ cause: error });
  }
  return Buffer.concat(chunks);
}
