import { CodedError } from '@apistrata/record-store/errors';

/**
 * Another service's answer is longer than whoever asked is ready to keep: 503, as from a gateway whose other side misbehaves. Those who know what the answer
 * was for say it in their own words.
 */
export class AnswerTooLarge extends CodedError<'ANSWER_TOO_LARGE'> {
  constructor(readonly maxBytes: number) {
    super('catalogs', 'ANSWER_TOO_LARGE', `the answer is larger than ${maxBytes} bytes`, { status: 503 });
  }
}

/**
 * The text of an answer, read no further than a number of bytes (counted after decompression).
 *
 * @throws AnswerTooLarge, and whatever `fetch` throws when the connection breaks
 */
export async function boundedText(response: Response, maxBytes: number): Promise<string> {
  if (!response.body) return '';
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  // Leaving the loop early cancels the body, and with it the connection.
  for await (const chunk of response.body) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw new AnswerTooLarge(maxBytes);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
