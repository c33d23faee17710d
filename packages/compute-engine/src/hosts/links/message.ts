import type { Readable } from 'node:stream';

/** The content type of a response that is a stream of bytes. Other responses are JSON. */
export const BYTES_CONTENT_TYPE = 'application/octet-stream';

/** The protocol to which a link is upgraded if it carries bytes in both directions. */
export const UPGRADE_PROTOCOL = 'apistrata-bytes';

/**
 * The header that contains the call if a link is upgraded, because an upgrade request has no body. The value is
 * percent-encoded JSON.
 */
export const CALL_HEADER = 'apistrata-call';

const MAX_MESSAGE_BYTES = 2 ** 24;

/**
 * Reads JSON from a stream.
 * @throws Error if it is longer than 16 MiB or malformed, and errors of the stream
 */
export async function readJson(stream: Readable): Promise<unknown> {
  const chunks: Buffer[] = [];
  let byteCount = 0;
  for await (const chunk of stream) {
    byteCount += chunk.length;
    if (byteCount > MAX_MESSAGE_BYTES) throw new Error(`the message is longer than ${MAX_MESSAGE_BYTES} bytes`);
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}
