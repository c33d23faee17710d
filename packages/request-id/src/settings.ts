import { type IncomingMessage, validateHeaderName } from 'node:http';
import { didYouMean } from './did-you-mean.js';
import { GENERATORS, type IdFormat } from './generators.js';
import { PRESETS, type Preset, type PresetName } from './presets.js';

/** An inbound id that was dropped because it is malformed. */
export interface DroppedId {
  /** The configured name of the header that contained the id. */
  readonly header: string;
  /**
   * The received header value; repeated headers are joined by commas. The client controls this text, so escape it
   * before you print it.
   */
  readonly value: string;
  readonly req: IncomingMessage;
}

/** Options for `requestId()`: which headers contain ids, and which ids are accepted. */
export interface RequestIdOptions {
  /**
   * The preset for your proxy or platform, which defines the headers and the id format. Default `any`: `X-Request-Id`
   * in requests and responses, with any id of up to 128 safe characters. Other options override parts of the preset.
   */
  readonly preset?: PresetName;
  /** Names of the response headers that contain the local id. Default: the header name in the preset. */
  readonly headers?: readonly string[];
  /** Names of the request headers that may contain an id; the first valid id is used. With an empty list, no header is read. */
  readonly inbound?: readonly string[];
  /**
   * Name of the header that `headersFor()` returns. Default: the first name in `inbound` if that option is set,
   * otherwise the name in the preset.
   */
  readonly outgoing?: string;
  /**
   * The generator of local ids: `uuid` (version 4), `uuidv7` (sorts by time), `short` (fastest, about 20 characters, can be
   * guessed), or a function. Default: the format of the preset.
   */
  readonly generate?: IdFormat | ((req: IncomingMessage) => string);
  /** Decides which inbound ids are valid: a function, or a regular expression that must match the whole trimmed value. */
  readonly accept?: RegExp | ((value: string) => boolean);
  /**
   * Whether a valid inbound id becomes the local id of the request. If false, each request gets a new local id, and the
   * inbound id is its global id. Default true; false with the preset `openstack`.
   */
  readonly adopt?: boolean;
  /** Whether the middleware sets `req.id`, which loggers and error reporters read. Default true. */
  readonly assign?: boolean;
  /** Called when an inbound id is dropped because it is malformed. Default: malformed ids are dropped silently. */
  readonly onDropped?: (dropped: DroppedId) => void;
  /**
   * Whether `currentRequestId()` returns the id in all code that runs for the request, for which an
   * `AsyncLocalStorage` stores the id. Default true.
   */
  readonly context?: boolean;
}

/** A header name as it is written to responses, and in lower case as in `req.headers`. */
export interface HeaderName {
  readonly name: string;
  readonly key: string;
}

/** The validated options with all defaults. */
export interface Settings {
  readonly headers: readonly HeaderName[];
  readonly inbound: readonly HeaderName[];
  readonly generate: (req: IncomingMessage) => string;
  readonly read: (value: string) => string | undefined;
  readonly adopts: boolean;
  readonly assigns: boolean;
  /** Returns the headers for calls to other services on behalf of a request. */
  readonly outgoingHeaders: (id: string, req: IncomingMessage) => Record<string, string>;
  readonly onDropped: ((dropped: DroppedId) => void) | undefined;
  readonly context: boolean;
}

/** The names of all `requestId()` options. */
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

function validateNames(option: string, names: readonly string[]): readonly string[] {
  if (!Array.isArray(names))
    throw new TypeError(`requestId: "${option}" must be a list of header names, such as ['X-Request-Id']`);
  for (const name of names) validateHeaderName(name);
  return [...names];
}

function headerName(name: string): HeaderName {
  return { name, key: name.toLowerCase() };
}

function createIdReader(accept: RequestIdOptions['accept'], preset: Preset): Settings['read'] {
  if (accept === undefined) return preset.read;
  if (typeof accept === 'function') return (value) => (accept(value) ? value : undefined);
  // The flags g and y would make the result depend on the previous request; with m, `^` and `$` would also match at
  // line breaks.
  const fullPattern = new RegExp(`^(?:${accept.source})$`, accept.flags.replace(/[gmy]/g, ''));
  return (value) => (fullPattern.test(value) ? value : undefined);
}

function findNamed<T>(option: string, name: string, definitions: Readonly<Record<string, T>>): T {
  const definition = Object.hasOwn(definitions, name) ? definitions[name] : undefined;
  if (definition === undefined)
    throw new TypeError(`requestId: unknown ${option} "${name}". ${didYouMean(name, Object.keys(definitions))}`);
  return definition;
}

/**
 * Validates options and adds defaults.
 *
 * @throws TypeError for an unknown option, preset or format, and for an invalid header name
 */
export function settingsFrom(options: RequestIdOptions): Settings {
  for (const name of Object.keys(options)) {
    if (!OPTION_NAMES.includes(name as keyof RequestIdOptions))
      throw new TypeError(`requestId: unknown option "${name}". ${didYouMean(name, OPTION_NAMES)}`);
  }
  const preset: Preset = findNamed('preset', options.preset ?? 'any', PRESETS);
  const headers = validateNames('headers', options.headers ?? preset.headers);
  const inbound = validateNames('inbound', options.inbound ?? preset.inbound);
  const configuredOutgoing = options.outgoing ?? (options.inbound ? undefined : preset.outgoing);
  const outgoing = configuredOutgoing ?? inbound[0] ?? headers[0] ?? 'X-Request-Id';
  validateHeaderName(outgoing);
  const { generate = preset.generate } = options;
  const overridesPreset = options.outgoing !== undefined || options.inbound !== undefined;
  return {
    headers: headers.map(headerName),
    inbound: inbound.map(headerName),
    generate: typeof generate === 'string' ? findNamed('id format', generate, GENERATORS) : generate,
    read: createIdReader(options.accept, preset),
    adopts: options.adopt ?? preset.adopts,
    assigns: options.assign ?? true,
    outgoingHeaders: (!overridesPreset && preset.outgoingHeaders) || ((id) => ({ [outgoing]: id })),
    onDropped: options.onDropped,
    context: options.context ?? true,
  };
}
