import { HealthcheckConfigError } from './errors.js';
import { type Healthcheck, healthcheck } from './healthcheck.js';
import { rejectUnknownKeys } from './known-names.js';
import type { HealthcheckOptions } from './options.js';

/** The `healthcheck()` options that a configuration file cannot represent. */
export type CodeOptions = Pick<HealthcheckOptions, 'checks' | 'groups' | 'links' | 'log' | 'service'>;

type StringOption = Exclude<keyof HealthcheckOptions, keyof CodeOptions>;

const keepString = (value: string) => value;
type Setting = readonly [option: StringOption, parse: (value: string, name: string) => string | boolean];

const SETTINGS_BY_NAME: ReadonlyMap<string, Setting> = new Map(
  Object.entries<Setting>({
    path: ['path', keepString],
    backends: ['backends', keepString],
    disable_by_file_path: ['disableByFilePath', keepString],
    disable_by_file_paths: ['disableByFilePaths', keepString],
    enable_by_file_paths: ['enableByFilePaths', keepString],
    detailed: ['detailed', parseFlag],
    names: ['names', parseFlag],
    format: ['format', keepString],
    errors: ['errors', keepString],
    track_resources: ['trackResources', parseFlag],
    track_promises: ['trackPromises', parseFlag],
    allowed_source_ranges: ['allowedSourceRanges', keepString],
    ignore_proxied_requests: ['ignoreProxiedRequests', parseFlag],
  }),
);

const BOOLEANS_BY_TEXT: ReadonlyMap<string, boolean> = new Map([
  ...['true', '1', 'yes', 'on'].map((word) => [word, true] as const),
  ...['false', '0', 'no', 'off'].map((word) => [word, false] as const),
]);

/**
 * Creates a health check from a section of a configuration file, such as `disable_by_file_path = /run/drain`. All
 * values are strings. List items are separated by commas; booleans are true/false, 1/0, yes/no or on/off,
 * case-insensitive.
 *
 * @param code options that a string cannot represent: `checks`, `groups`, `links`, `log` and `service`
 * @throws HealthcheckConfigError for unknown names and malformed values; its `option` is the name in the record
 */
export function healthcheckFromConfig(
  record: Readonly<Record<string, string | undefined>>,
  code: CodeOptions = {},
): Healthcheck {
  rejectUnknownKeys('the configuration', record, [...SETTINGS_BY_NAME.keys()]);
  rejectUnknownKeys('the second argument of healthcheckFromConfig()', code, [
    'checks',
    'groups',
    'links',
    'log',
    'service',
  ]);
  const options: Record<string, unknown> = { ...code };
  for (const [name, [option, parse]] of SETTINGS_BY_NAME) {
    const value = record[name];
    if (value === undefined) continue;
    if (typeof value !== 'string')
      throw new HealthcheckConfigError(name, 'is not a string', 'Use a string, as in a configuration file');
    options[option] = parse(value, name);
  }
  try {
    return healthcheck(options);
  } catch (error) {
    throw withConfigName(error);
  }
}

function parseFlag(value: string, name: string): boolean {
  const parsed = BOOLEANS_BY_TEXT.get(value.trim().toLowerCase());
  if (parsed !== undefined) return parsed;
  throw new HealthcheckConfigError(name, `"${value}" is neither true nor false`, 'Write true or false');
}

/** Returns the same error, with the option name that the configuration file uses. */
function withConfigName(error: unknown): unknown {
  if (!(error instanceof HealthcheckConfigError)) return error;
  const entry = [...SETTINGS_BY_NAME].find(([, [option]]) => option === error.option);
  return entry ? error.named(entry[0]) : error;
}
