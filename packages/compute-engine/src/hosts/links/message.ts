import type { Readable } from 'node:stream';

/** The content type of a response that is a stream of bytes; other responses are JSON. */
export const BYTES = 'application/octet-stream';

/** The protocol to which a link changes if it carries bytes in both directions. */
export const CONNECTION = 'apistrata-bytes';

/** Contains the call of such a link, as JSON in the encoding of URLs: it has no body. */
export const CALL_HEADER = 'apistrata-call';

const MAX_BYTES = 2 ** 24;

/** Reads a JSON text. @throws Error if it is longer than 16 MiB, and errors of the stream */
export async function readJson(stream: Readable): Promise<unknown> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error(`the message is longer than ${MAX_BYTES} bytes`);
    pieces.push(chunk);
  }
  return JSON.parse(Buffer.concat(pieces).toString('utf8'));
}
