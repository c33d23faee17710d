import { randomUUID } from 'node:crypto';
import { type IncomingMessage, validateHeaderName } from 'node:http';

/** An inbound id that was not used because it has not the form of an id. */
export interface DroppedId {
  /** Name of the header it came in, as configured. */
  readonly header: string;
  /** The text as received, repeated lines joined by commas. Written by the client: escape it where you print it. */
  readonly value: string;
  readonly req: IncomingMessage;
}

/** Which headers carry the ids, and what is believed of them. */
export interface RequestIdOptions {
  /** Names of the answer headers that carry the local id. Default `['X-Service-Request-ID']`. */
  readonly headers?: readonly string[];
  /**
   * Names of the request headers that may carry a global id; the first one with a valid id counts.
   * Default `['X-Service-Request-ID']`; an empty list reads none.
   */
  readonly inbound?: readonly string[];
  /** Name of the header that `headersFor()` writes. Default: the first inbound name, else the first answer header. */
  readonly outgoing?: string;
  /** Makes a local id. Default `req-` and a random (version 4) lower-case uuid. */
  readonly generate?: (req: IncomingMessage) => string;
  /**
   * What a global id looks like: a function, or an expression that has to match the whole trimmed value.
   * Default `req-` and lower-case hex digits in groups of 8-4-4-4-12.
   */
  readonly accept?: RegExp | ((value: string) => boolean);
  /** Called when an inbound id is dropped, to warn about it. Default: it is dropped silently. */
  readonly onDropped?: (dropped: DroppedId) => void;
  /** Whether `currentRequestId()` works in everything the request causes (AsyncLocalStorage). Default true. */
  readonly context?: boolean;
}

/** A header as it is written, and in the lower case in which Node keeps it. */
export interface HeaderName {
  readonly name: string;
  readonly key: string;
}

/** Options with every default filled in. */
export interface Settings {
  readonly headers: readonly HeaderName[];
  readonly inbound: readonly HeaderName[];
  readonly outgoing: string;
  readonly generate: (req: IncomingMessage) => string;
  readonly accept: (value: string) => boolean;
  readonly onDropped: ((dropped: DroppedId) => void) | undefined;
  readonly context: boolean;
}

const DEFAULT_HEADER = 'X-Service-Request-ID';
const GLOBAL_ID = /^req-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const KNOWN: Readonly<Record<keyof RequestIdOptions, true>> = {
  headers: true,
  inbound: true,
  outgoing: true,
  generate: true,
  accept: true,
  onDropped: true,
  context: true,
};

export function newLocalId(): string {
  return `req-${randomUUID()}`;
}

function namesIn(option: string, names: readonly string[]): readonly string[] {
  if (!Array.isArray(names))
    throw new TypeError(`requestId: '${option}' is a list of header names, write ['X-Request-ID']`);
  for (const name of names) validateHeaderName(name);
  return [...names];
}

function headerName(name: string): HeaderName {
  return { name, key: name.toLowerCase() };
}

function acceptor(accept: RequestIdOptions['accept']): (value: string) => boolean {
  if (typeof accept === 'function') return accept;
  if (accept === undefined) return (value) => GLOBAL_ID.test(value);
  // Anchored, and without g and y, which would make the answer depend on the request before.
  const whole = new RegExp(`^(?:${accept.source})$`, accept.flags.replace(/[gmy]/g, ''));
  return (value) => whole.test(value);
}

/** Fills in the defaults. Throws a TypeError that names the cure for an unknown option or a name that is no header name. */
export function settingsFrom(options: RequestIdOptions): Settings {
  for (const name of Object.keys(options)) {
    if (!Object.hasOwn(KNOWN, name))
      throw new TypeError(`requestId: unknown option '${name}', known are ${Object.keys(KNOWN).join(', ')}`);
  }
  const headers = namesIn('headers', options.headers ?? [DEFAULT_HEADER]);
  const inbound = namesIn('inbound', options.inbound ?? [DEFAULT_HEADER]);
  const outgoing = options.outgoing ?? inbound[0] ?? headers[0] ?? DEFAULT_HEADER;
  validateHeaderName(outgoing);
  return {
    headers: headers.map(headerName),
    inbound: inbound.map(headerName),
    outgoing,
    generate: options.generate ?? newLocalId,
    accept: acceptor(options.accept),
    onDropped: options.onDropped,
    context: options.context ?? true,
  };
}
