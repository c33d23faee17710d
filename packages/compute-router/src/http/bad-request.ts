import { RequestError } from '@apistrata/microversion/router';

/** A request whose parts fit their schemas and still make no sense together. */
export class BadRequest extends RequestError {
  readonly code = 'BAD_REQUEST';
  readonly status = 400;
}
