import { HealthcheckConfigError } from './errors.js';
import { type Healthcheck, healthcheck } from './healthcheck.js';
import { rejectUnknown } from './known-names.js';
import type { HealthcheckOptions } from './options.js';

/** The `healthcheck()` options that a configuration file cannot represent. */
export type CodeOptions = Pick<HealthcheckOptions, 'checks' | 'groups' | 'links' | 'log' | 'service'>;

type TextOption = Exclude<keyof HealthcheckOptions, keyof CodeOptions>;

const text = (value: string) => value;
type Setting = readonly [option: TextOption, parse: (value: string, name: string) => string | boolean];

const NAMES: ReadonlyMap<string, Setting> = new Map(
  Object.entries<Setting>({
    path: ['path', text],
    backends: ['backends', text],
    disable_by_file_path: ['disableByFilePath', text],
    disable_by_file_paths: ['disableByFilePaths', text],
    enable_by_file_paths: ['enableByFilePaths', text],
    detailed: ['detailed', flag],
    names: ['names', flag],
    format: ['format', text],
    errors: ['errors', text],
    follow_resources: ['followResources', flag],
    detailed_promises: ['detailedPromises', flag],
    allowed_source_ranges: ['allowedSourceRanges', text],
    ignore_proxied_requests: ['ignoreProxiedRequests', flag],
  }),
);

const FLAGS: ReadonlyMap<string, boolean> = new Map([
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
  rejectUnknown('the configuration', record, [...NAMES.keys()]);
  rejectUnknown('the second argument of healthcheckFromConfig()', code, [
    'checks',
    'groups',
    'links',
    'log',
    'service',
  ]);
  const options: Record<string, unknown> = { ...code };
  for (const [name, [option, parse]] of NAMES) {
    const value = record[name];
    if (value === undefined) continue;
    if (typeof value !== 'string')
      throw new HealthcheckConfigError(name, 'is not a string', 'Use a string, as a configuration file contains it');
    options[option] = parse(value, name);
  }
  try {
    return healthcheck(options);
  } catch (error) {
    throw withOriginalMessage(error);
  }
}

function flag(value: string, name: string): boolean {
  const parsed = FLAGS.get(value.trim().toLowerCase());
  if (parsed !== undefined) return parsed;
  throw new HealthcheckConfigError(name, `"${value}" is neither true nor false`, 'Write true or false');
}

/** Returns the same error, with the option name that the configuration file uses. */
function withOriginalMessage(error: unknown): unknown {
  if (!(error instanceof HealthcheckConfigError)) return error;
  const entry = [...NAMES].find(([, [option]]) => option === error.option);
  return entry ? error.named(entry[0]) : error;
}
