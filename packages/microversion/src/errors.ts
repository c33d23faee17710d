import type { Version } from './version.js';

/** The versions a service speaks, for error texts and bodies. */
export interface Served {
  /** Service type, `compute`. */
  readonly service: string;
  readonly min: Version;
  readonly max: Version;
}

/** Every code of this package's errors, with the HTTP status it stands for. */
export const errorCodes = {
  INVALID_VERSION_HEADER: 400,
  UNACCEPTABLE_VERSION: 406,
  NOT_IN_VERSION: 404,
  NO_ROUTE: 404,
  UNSUPPORTED_MEDIA_TYPE: 415,
  BODY_TOO_LARGE: 413,
  MALFORMED_BODY: 400,
  BODY_TOO_COMPLEX: 400,
  UNKNOWN_ACTION: 400,
  INVALID_BODY: 400,
  INVALID_QUERY: 400,
  INVALID_REPLY: 500,
} as const;

/** Stable, so that programs may compare it; the text of a message may change. */
export type MicroversionErrorCode = keyof typeof errorCodes;

/** What all errors of this package are: `name`, `code`, `status`, and the `url` of what their code means. */
export abstract class MicroversionError<Code extends MicroversionErrorCode = MicroversionErrorCode> extends Error {
  /** Of the HTTP answer. */
  readonly status: number;
  /** Lets error handlers that follow the http-errors convention show the message: whether it is meant for the client. */
  readonly expose: boolean;
  /** The page that tells cause and cure; for developers, never part of an answer. */
  readonly url: string;

  constructor(
    readonly code: Code,
    message: string,
  ) {
    super(message);
    this.name = new.target.name;
    this.status = errorCodes[code];
    this.expose = this.status < 500;
    this.url = `https://github.com/apistrata/apistrata/blob/main/docs/errors.md#microversion-${code.toLowerCase()}`;
  }

  override toString(): string {
    return `${super.toString()} (${this.url})`;
  }
}

type RequestErrorCode = Exclude<MicroversionErrorCode, 'INVALID_REPLY'>;

/** An API request that is refused before any handler runs. `message` is meant for the client. */
export class RequestError<Code extends RequestErrorCode = RequestErrorCode> extends MicroversionError<Code> {
  /** What the service speaks; undefined where no negotiation told. */
  readonly served: Served | undefined;

  constructor(code: Code, message: string, served?: Served) {
    super(code, message);
    this.served = served;
  }
}

/** 400: the text that should be a version is none. */
export class InvalidVersionHeader extends RequestError<'INVALID_VERSION_HEADER'> {
  declare readonly served: Served;
  /** What was found in place of a version, trimmed; may be empty. */
  readonly text: string;

  constructor(message: string, served: Served, text: string) {
    super('INVALID_VERSION_HEADER', message, served);
    this.text = text;
  }
}

/** 406: a version, but none that the service speaks. */
export class UnacceptableVersion extends RequestError<'UNACCEPTABLE_VERSION'> {
  declare readonly served: Served;
  /** The version asked for, digit for digit. */
  readonly version: string;

  constructor(message: string, served: Served, version: string) {
    super('UNACCEPTABLE_VERSION', message, served);
    this.version = version;
  }
}

/** 404: what was asked for does not exist at the negotiated version. The message does not tell that it exists at another. */
export function notInVersion(served?: Served): RequestError<'NOT_IN_VERSION'> {
  return new RequestError('NOT_IN_VERSION', 'The resource could not be found.', served);
}
