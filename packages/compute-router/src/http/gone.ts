import { RequestError } from '@apistrata/microversion/router';

/** The operation existed once and is gone for good, at every version. */
export class Gone extends RequestError {
  readonly code = 'GONE';
  readonly status = 410;
}
