import { CodedError } from '@apistrata/record-store/errors';

/**
 * The error for a response of another service that exceeds the size limit; its status is 503. Callers that know the purpose
 * of the request convert it to their own error.
 */
export class ResponseTooLarge extends CodedError<'RESPONSE_TOO_LARGE'> {
  constructor(readonly maxBytes: number) {
    super('catalogs', 'RESPONSE_TOO_LARGE', `the response is larger than ${maxBytes} bytes`, { status: 503 });
  }
}

/**
 * Reads the text of a response, up to a number of bytes (after decompression).
 *
 * @throws ResponseTooLarge, and the errors of `fetch` if the connection breaks
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
