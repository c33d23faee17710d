import type { IncomingMessage } from 'node:http';

/** The body is larger than the service takes. */
export class BodyTooLarge extends Error {}

/** The client went away in the middle of its body: there is nobody to answer. */
export class BodyAborted extends Error {}

/**
 * The body as bytes. Where a body parser ran before, what it made of the body: bytes and text as they are, anything
 * else written as JSON again.
 */
export async function readBody(
  req: IncomingMessage & { readonly body?: unknown },
  limitBytes: number,
): Promise<Buffer> {
  if (req.readableEnded && req.body !== undefined) return bytesOf(req.body);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of req) {
      size += (chunk as Buffer).length;
      // What comes after is read and dropped by Node once the answer is out.
      if (size > limitBytes) throw new BodyTooLarge();
      chunks.push(chunk as Buffer);
    }
  } catch (error) {
    if (error instanceof BodyTooLarge) throw error;
    throw new BodyAborted('The client left', { cause: error });
  }
  return Buffer.concat(chunks);
}

function bytesOf(body: unknown): Buffer {
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}
