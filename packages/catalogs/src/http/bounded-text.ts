import { CodedError } from '@apistrata/record-store/errors';

/**
 * Thrown if another service's response exceeds the size limit. The status is 503. Callers that know the purpose of the
 * request convert this error to one of their own.
 */
export class ResponseTooLarge extends CodedError<'RESPONSE_TOO_LARGE'> {
  constructor(readonly maxBytes: number) {
    super('catalogs', 'RESPONSE_TOO_LARGE', `the response is larger than ${maxBytes} bytes`, { status: 503 });
  }
}

/**
 * Reads a response body as text. The limit is the number of bytes after decompression.
 *
 * @throws ResponseTooLarge, or the error from `fetch()` if the connection fails
 */
export async function readBoundedText(response: Response, maxBytes: number): Promise<string> {
  if (!response.body) return '';
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  // Leaving the loop early cancels the body and closes the connection.
  for await (const chunk of response.body) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw new ResponseTooLarge(maxBytes);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
