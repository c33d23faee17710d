import type { FileBackendSettings } from './backends/file-backends.js';
import type { Check } from './check.js';
import type { TrackedResources } from './detailed/async-resources.js';
import { errorRenderer, type RenderError } from './error-response.js';
import { HealthcheckConfigError } from './errors.js';
import type { JsonFormat, PageLink, ServiceInfo } from './extras.js';
import { JSON_FORMATS } from './formats/json-formats.js';
import { didYouMean, rejectUnknownKeys } from './known-names.js';
import type { HealthcheckLog } from './log.js';
import { type BackendList, type GroupOptions, type HealthcheckOptions, OPTION_NAMES } from './options.js';
import { normalizePath } from './request-path.js';
import { type IsAllowedAddress, sourceRanges } from './source-ranges.js';

/** The configuration of one endpoint: name, path, and backends. */
export interface EndpointSettings {
  /** `healthcheck` for the main endpoint, otherwise the name of the group. */
  readonly name: string;
  /** The exact path of the endpoint; undefined if it does not have one. */
  readonly path: string | undefined;
  readonly backends: readonly (string | Check)[];
  readonly failsOnShutdown: boolean;
  /** The name of the option that contains the backends, for error messages. */
  readonly option: string;
}

/** The validated options with all defaults. */
export interface Settings extends FileBackendSettings {
  readonly endpoints: readonly [EndpointSettings, ...EndpointSettings[]];
  /** When the main endpoint responds regardless of the request path: always, only if it is mounted at a path, or never. */
  readonly anyPathMode: 'always' | 'mounted' | 'never';
  readonly checks: readonly Check[];
  readonly detailed: boolean;
  /** Whether responses contain the names of checks, an extension of the documented format. */
  readonly names: boolean;
  readonly service: ServiceInfo;
  readonly links: readonly PageLink[];
  readonly format: JsonFormat;
  /** Renders the responses of unavailable endpoints; undefined for the documented responses. */
  readonly renderError: RenderError | undefined;
  readonly startsReady: boolean;
  /** The asynchronous resources to track. */
  readonly trackedResources: TrackedResources;
  /** Checks whether a client address is allowed. The property is undefined if all addresses are allowed. */
  readonly isAllowedSource: IsAllowedAddress | undefined;
  readonly ignoreProxiedRequests: boolean;
  readonly log: HealthcheckLog;
}

const SILENT_LOG: HealthcheckLog = { warn: () => undefined, error: () => undefined };

/** The default paths of endpoint groups by name, which are customary for orchestrators such as Kubernetes. */
const GROUP_PATHS: ReadonlyMap<string, string> = new Map([
  ['live', '/livez'],
  ['ready', '/readyz'],
  ['startup', '/startupz'],
]);

/**
 * Groups that do not fail on shutdown, because the orchestrator would then restart the process and interrupt its last
 * requests.
 */
const GROUPS_UNAFFECTED_BY_SHUTDOWN: readonly string[] = ['live', 'startup'];

/**
 * Validates options and adds defaults.
 *
 * @throws HealthcheckConfigError if an option is unknown or invalid
 */
export function settingsFrom(options: Readonly<HealthcheckOptions>): Settings {
  rejectUnknownKeys('healthcheck()', options, OPTION_NAMES);
  const { path, log = console } = options;
  const ranges = stringList('allowedSourceRanges', options.allowedSourceRanges);
  return {
    endpoints: [
      {
        name: 'healthcheck',
        path: path === false ? undefined : endpointPath('path', path ?? '/healthcheck'),
        backends: backendList('backends', options.backends ?? []),
        failsOnShutdown: true,
        option: 'backends',
      },
      ...Object.entries(options.groups ?? {}).map(([name, group]) => groupSettings(name, group)),
    ],
    anyPathMode: path === false ? 'always' : path === undefined ? 'mounted' : 'never',
    checks: options.checks ?? [],
    disableByFilePath: stringOption('disableByFilePath', options.disableByFilePath),
    disableByFilePaths: portPaths(stringList('disableByFilePaths', options.disableByFilePaths)),
    enableByFilePaths: stringList('enableByFilePaths', options.enableByFilePaths),
    detailed: booleanOption('detailed', options.detailed, false),
    names: booleanOption('names', options.names, false),
    service: serviceInfo(options.service),
    links: pageLinks(options.links),
    format: jsonFormat(options.format),
    renderError: errorRenderer(options.errors),
    startsReady: booleanOption('startsReady', options.startsReady, true),
    trackedResources: resourcesToTrack(options),
    isAllowedSource: ranges.length > 0 ? sourceRanges(ranges, 'allowedSourceRanges') : undefined,
    ignoreProxiedRequests: booleanOption('ignoreProxiedRequests', options.ignoreProxiedRequests, false),
    log: log === false ? SILENT_LOG : log,
  };
}

function resourcesToTrack({ trackResources, trackPromises }: Readonly<HealthcheckOptions>): TrackedResources {
  const tracksPromises = booleanOption('trackPromises', trackPromises, true);
  if (!booleanOption('trackResources', trackResources, false)) return 'none';
  return tracksPromises ? 'all' : 'withoutPromises';
}

function jsonFormat(format: JsonFormat = 'documented'): JsonFormat {
  const formats = ['documented', ...Object.keys(JSON_FORMATS)];
  if (formats.includes(format)) return format;
  throw new HealthcheckConfigError(
    'format',
    `unknown format ${JSON.stringify(format)}`,
    didYouMean(String(format), formats),
  );
}

function serviceInfo(service: ServiceInfo = {}): ServiceInfo {
  rejectUnknownKeys('the option "service"', service, ['name', 'version']);
  return {
    name: stringOption('service.name', service.name),
    version: stringOption('service.version', service.version),
  };
}

function pageLinks(links: readonly PageLink[] = []): readonly PageLink[] {
  if (Array.isArray(links) && links.every((link) => typeof link?.href === 'string' && typeof link.text === 'string'))
    return links;
  throw new HealthcheckConfigError('links', 'is not a list of links', 'Use [{ href, text }], with strings');
}

function groupSettings(name: string, group: GroupOptions): EndpointSettings {
  const option = `groups.${name}`;
  rejectUnknownKeys(`the group "${name}"`, group, ['path', 'backends', 'failsOnShutdown']);
  if (name === 'healthcheck') {
    throw new HealthcheckConfigError(option, 'is the name of the main endpoint', 'Choose another name for the group');
  }
  const path = group.path ?? GROUP_PATHS.get(name);
  return {
    name,
    path: path === undefined ? undefined : endpointPath(`${option}.path`, path),
    backends: backendList(`${option}.backends`, group.backends),
    failsOnShutdown: booleanOption(
      `${option}.failsOnShutdown`,
      group.failsOnShutdown,
      !GROUPS_UNAFFECTED_BY_SHUTDOWN.includes(name),
    ),
    option: `${option}.backends`,
  };
}

function endpointPath(option: string, path: string): string {
  if (typeof path !== 'string' || !path.startsWith('/') || path.includes('?')) {
    throw new HealthcheckConfigError(
      option,
      `${JSON.stringify(path)} is not a path`,
      'Use a path such as "/healthcheck"',
    );
  }
  return normalizePath(path);
}

function backendList(option: string, backends: BackendList): readonly (string | Check)[] {
  if (Array.isArray(backends)) return backends;
  return stringList(option, backends as string).filter(Boolean);
}

function stringList(option: string, value: string | readonly string[] = []): readonly string[] {
  const items = typeof value === 'string' ? splitList(value) : value;
  if (Array.isArray(items) && items.every((item) => typeof item === 'string')) return items;
  throw new HealthcheckConfigError(
    option,
    'is not a list of strings',
    'Use an array of strings or a comma-separated string',
  );
}

/** Splits a string at commas. An empty string results in an empty list; empty items between commas are preserved. */
function splitList(value: string): readonly string[] {
  return value.trim() === '' ? [] : value.split(',').map((item) => item.trim());
}

function stringOption(option: string, value = ''): string {
  if (typeof value === 'string') return value;
  throw new HealthcheckConfigError(option, 'is not a string', 'Use a string');
}

function booleanOption(option: string, value: boolean | undefined, defaultValue: boolean): boolean {
  if (value === undefined || typeof value === 'boolean') return value ?? defaultValue;
  throw new HealthcheckConfigError(option, `${JSON.stringify(value)} is neither true nor false`, 'Use true or false');
}

/** Parses `port:path` entries. Empty entries are skipped, paths may contain colons, and the last entry for a port applies. */
function portPaths(items: readonly string[]): ReadonlyMap<number, string> {
  const entries = items.map((item) => item.trim()).filter(Boolean);
  return new Map(entries.map(portPath));
}

function portPath(item: string): readonly [port: number, path: string] {
  const colon = item.indexOf(':');
  const port = item.slice(0, Math.max(colon, 0)).trim();
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    throw new HealthcheckConfigError(
      'disableByFilePaths',
      `"${item}" is not a port:path entry`,
      'Write each entry like "8080:/run/drain-8080", with a port from 0 to 65535',
    );
  }
  return [Number(port), item.slice(colon + 1)];
}
