import type { Version } from './version.js';

/** The supported versions of a service, for error messages and bodies. */
export interface SupportedVersions {
  /** The service type, such as `compute`. */
  readonly service: string;
  readonly min: Version;
  readonly max: Version;
  /** All supported versions in ascending order, if the service has a list of versions. */
  readonly versions?: readonly Version[];
}

/** All error codes in this package, with their HTTP statuses. */
export const errorCodes = {
  INVALID_VERSION_HEADER: 400,
  UNACCEPTABLE_VERSION: 406,
  VERSION_REQUIRED: 400,
  VERSION_GONE: 410,
  NOT_IN_VERSION: 404,
  NO_ROUTE: 404,
  UNSUPPORTED_MEDIA_TYPE: 415,
  BODY_TOO_LARGE: 413,
  MALFORMED_BODY: 400,
  BODY_TOO_COMPLEX: 400,
  UNKNOWN_ACTION: 400,
  INVALID_BODY: 400,
  INVALID_QUERY: 400,
  INVALID_RESPONSE: 500,
} as const;

/** An error code. Codes are stable, so that programs can compare them; the text of messages may change. */
export type MicroversionErrorCode = keyof typeof errorCodes;

/** Base class of all errors in this package, with `name`, `code`, `status`, and the `url` of the error code's documentation. */
export abstract class MicroversionError<Code extends MicroversionErrorCode = MicroversionErrorCode> extends Error {
  /** The HTTP response status. */
  readonly status: number;
  /** Whether the message may be sent to the client, following the convention of `http-errors`. */
  readonly expose: boolean;
  /** The URL of the page that documents the cause and the fix. It is for developers and never part of a response. */
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

type RequestErrorCode = Exclude<MicroversionErrorCode, 'INVALID_RESPONSE'>;

/** The error of a request that is rejected before a handler runs. The client may see its `message`. */
export class RequestError<Code extends RequestErrorCode = RequestErrorCode> extends MicroversionError<Code> {
  /** The supported versions; undefined if no version was negotiated. */
  readonly served: SupportedVersions | undefined;

  constructor(code: Code, message: string, served?: SupportedVersions) {
    super(code, message);
    this.served = served;
  }
}

/** The error (400) if the version in a request is malformed. */
export class InvalidVersionHeader extends RequestError<'INVALID_VERSION_HEADER'> {
  declare readonly served: SupportedVersions;
  /** The malformed version as the client sent it, trimmed; may be empty. */
  readonly text: string;

  constructor(message: string, served: SupportedVersions, text: string) {
    super('INVALID_VERSION_HEADER', message, served);
    this.text = text;
  }
}

/** The error (406) if the requested version is not supported. */
export class UnacceptableVersion extends RequestError<'UNACCEPTABLE_VERSION'> {
  declare readonly served: SupportedVersions;
  /** The requested version, as a string. */
  readonly version: string;

  constructor(message: string, served: SupportedVersions, version: string) {
    super('UNACCEPTABLE_VERSION', message, served);
    this.version = version;
  }
}

/**
 * Creates the error (404) for an operation that does not exist at the negotiated version. The message does not reveal
 * that the operation exists at another version.
 */
export function notInVersion(served?: SupportedVersions): RequestError<'NOT_IN_VERSION'> {
  return new RequestError('NOT_IN_VERSION', 'The resource could not be found.', served);
}
