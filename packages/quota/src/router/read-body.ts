import type { IncomingMessage } from 'node:http';
import { QuotaError } from '../errors.js';
import { ISSUE, Refusal } from './answer.js';

/** The client went away in the middle of its body: there is nobody to answer. */
export class ClientGone extends QuotaError {
  constructor(options: ErrorOptions) {
    super('CLIENT_GONE', 'The client left in the middle of its body', options);
  }
}

/** A body that a parser before us has made a value of. */
export class ParsedBody {
  constructor(readonly value: unknown) {}
}

/**
 * The body as bytes, or what a body parser that ran before made of it other than bytes and text.
 *
 * @throws Refusal (413) for more than the limit; ClientGone
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
      // What comes after is read and dropped by Node once the answer is out.
      if (size > limitBytes) throw new Refusal(413, `${ISSUE} The body has more than ${limitBytes} bytes.`);
      chunks.push(chunk as Buffer);
    }
  } catch (error) {
    throw error instanceof Refusal ? error : new ClientGone({ cause: error });
  }
  return Buffer.concat(chunks);
}
