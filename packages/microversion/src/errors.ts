import type { Version } from './version.js';

/** The versions a service speaks, for error texts and bodies. */
export interface Served {
  /** Service type, `compute`. */
  readonly service: string;
  readonly min: Version;
  readonly max: Version;
}

/** A request that could not be served at the version it asked for. `message` is meant for the client. */
export abstract class MicroversionError extends Error {
  /** Stable; the text of the message may change. */
  abstract readonly code: string;
  abstract readonly status: number;
  /** Lets error handlers that follow the http-errors convention show the message. */
  readonly expose = true;
  /** Where the README explains it. */
  readonly docs = '@apistrata/microversion/README.md#errors';
  /** What the service speaks; undefined where no negotiation told. */
  readonly served: Served | undefined;

  constructor(message: string, served: Served | undefined) {
    super(message);
    this.name = new.target.name;
    this.served = served;
  }
}

/** 400: the text that should be a version is none. */
export class InvalidVersionHeader extends MicroversionError {
  readonly code = 'INVALID_VERSION_HEADER';
  readonly status = 400;
  override readonly served: Served;
  /** What was found in place of a version, trimmed; may be empty. */
  readonly text: string;

  constructor(message: string, served: Served, text: string) {
    super(message, served);
    this.served = served;
    this.text = text;
  }
}

/** 406: a version, but none that the service speaks. */
export class UnacceptableVersion extends MicroversionError {
  readonly code = 'UNACCEPTABLE_VERSION';
  readonly status = 406;
  override readonly served: Served;
  /** The version asked for, digit for digit. */
  readonly version: string;

  constructor(message: string, served: Served, version: string) {
    super(message, served);
    this.served = served;
    this.version = version;
  }
}

/** 404: what was asked for does not exist at the negotiated version. The message does not tell that it exists at another. */
export class NotInVersion extends MicroversionError {
  readonly code = 'NOT_IN_VERSION';
  readonly status = 404;

  constructor(served?: Served) {
    super('The resource could not be found.', served);
  }
}
