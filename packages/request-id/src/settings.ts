import { type IncomingMessage, validateHeaderName } from 'node:http';
import { didYouMean } from './did-you-mean.js';
import { GENERATORS, type IdForm } from './generators.js';
import { PRESETS, type Preset, type PresetName } from './presets.js';

/** An inbound id that was dropped because it is malformed. */
export interface DroppedId {
  /** Name of the header it came in, as configured. */
  readonly header: string;
  /** The value as received, repeated lines joined by commas. Written by the client: escape it where you print it. */
  readonly value: string;
  readonly req: IncomingMessage;
}

/** The headers of the ids, and the accepted ids. */
export interface RequestIdOptions {
  /**
   * The headers and the form of ids that a proxy or platform sends. Default `any`: `X-Request-Id` in and out, and any id of up
   * to 128 safe characters is accepted. Other options replace parts of it.
   */
  readonly preset?: PresetName;
  /** Names of the response headers that carry the local id. Default: that of the preset. */
  readonly headers?: readonly string[];
  /** Names of the request headers that may carry an id; the first valid one counts. An empty list reads none. */
  readonly inbound?: readonly string[];
  /** Name of the header that `headersFor()` writes. Default: that of the preset, or the first inbound name. */
  readonly outgoing?: string;
  /**
   * Generates a local id: a function, `uuid` (version 4), `uuidv7` (sorts by time), or `short` (fastest, about 20 characters; can
   * be guessed). Default: the form of the preset.
   */
  readonly generate?: IdForm | ((req: IncomingMessage) => string);
  /** Which inbound ids are valid: a function, or an expression that has to match the whole trimmed value. */
  readonly accept?: RegExp | ((value: string) => boolean);
  /**
   * Whether a valid inbound id becomes the local id of the request. Default: true, and false with the preset `openstack`. With
   * false, each request gets its own id, and the inbound one is its global id.
   */
  readonly adopt?: boolean;
  /** Whether `req.id` is set, which loggers and error reporters read. Default true. */
  readonly assign?: boolean;
  /** Called when an inbound id is dropped. Default: it is dropped silently. */
  readonly onDropped?: (dropped: DroppedId) => void;
  /** Whether `currentRequestId()` works in everything the request causes (AsyncLocalStorage). Default true. */
  readonly context?: boolean;
}

/** A header as it is written, and in the lower case in which Node keeps it. */
export interface HeaderName {
  readonly name: string;
  readonly key: string;
}

/** Options with all defaults. */
export interface Settings {
  readonly headers: readonly HeaderName[];
  readonly inbound: readonly HeaderName[];
  readonly generate: (req: IncomingMessage) => string;
  readonly read: (value: string) => string | undefined;
  readonly adopts: boolean;
  readonly assigns: boolean;
  /** Returns the headers of a call on behalf of the request. */
  readonly carry: (id: string, req: IncomingMessage) => Record<string, string>;
  readonly onDropped: ((dropped: DroppedId) => void) | undefined;
  readonly context: boolean;
}

/** The names of all options. */
export const OPTION_NAMES: readonly (keyof RequestIdOptions)[] = [
  'preset',
  'headers',
  'inbound',
  'outgoing',
  'generate',
  'accept',
  'adopt',
  'assign',
  'onDropped',
  'context',
];

function namesIn(option: string, names: readonly string[]): readonly string[] {
  if (!Array.isArray(names))
    throw new TypeError(`requestId: "${option}" must be a list of header names, such as ['X-Request-Id']`);
  for (const name of names) validateHeaderName(name);
  return [...names];
}

function headerName(name: string): HeaderName {
  return { name, key: name.toLowerCase() };
}

function reader(accept: RequestIdOptions['accept'], preset: Preset): Settings['read'] {
  if (accept === undefined) return preset.read;
  if (typeof accept === 'function') return (value) => (accept(value) ? value : undefined);
  // Anchored, and without g and y, which would make the result depend on the previous request.
  const full = new RegExp(`^(?:${accept.source})$`, accept.flags.replace(/[gmy]/g, ''));
  return (value) => (full.test(value) ? value : undefined);
}

function findNamed<T>(option: string, name: string, definitions: Readonly<Record<string, T>>): T {
  const found = Object.hasOwn(definitions, name) ? definitions[name] : undefined;
  if (found === undefined)
    throw new TypeError(`requestId: unknown ${option} "${name}". ${didYouMean(name, Object.keys(definitions))}`);
  return found;
}

/**
 * Validates options and adds defaults.
 *
 * @throws TypeError for an unknown option, preset or form, and for an invalid header name
 */
export function settingsFrom(options: RequestIdOptions): Settings {
  for (const name of Object.keys(options)) {
    if (!OPTION_NAMES.includes(name as keyof RequestIdOptions))
      throw new TypeError(`requestId: unknown option "${name}". ${didYouMean(name, OPTION_NAMES)}`);
  }
  const preset: Preset = findNamed('preset', options.preset ?? 'any', PRESETS);
  const headers = namesIn('headers', options.headers ?? preset.headers);
  const inbound = namesIn('inbound', options.inbound ?? preset.inbound);
  const ownHeader = options.outgoing ?? (options.inbound ? undefined : preset.outgoing);
  const outgoing = ownHeader ?? inbound[0] ?? headers[0] ?? 'X-Request-Id';
  validateHeaderName(outgoing);
  const { generate = preset.generate } = options;
  const replaced = options.outgoing !== undefined || options.inbound !== undefined;
  return {
    headers: headers.map(headerName),
    inbound: inbound.map(headerName),
    generate: typeof generate === 'string' ? findNamed('form of ids', generate, GENERATORS) : generate,
    read: reader(options.accept, preset),
    adopts: options.adopt ?? preset.adopts,
    assigns: options.assign ?? true,
    carry: (!replaced && preset.carry) || ((id) => ({ [outgoing]: id })),
    onDropped: options.onDropped,
    context: options.context ?? true,
  };
}
