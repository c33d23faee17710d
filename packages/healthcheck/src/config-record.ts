import { HealthcheckConfigError } from './errors.js';
import { type Healthcheck, healthcheck } from './healthcheck.js';
import { rejectUnknown } from './known-names.js';
import type { HealthcheckOptions } from './options.js';

/** Options that a text file cannot represent. */
export type CodeOptions = Pick<HealthcheckOptions, 'checks' | 'groups' | 'links' | 'log' | 'service'>;

type TextOption = Exclude<keyof HealthcheckOptions, keyof CodeOptions>;

const text = (value: string) => value;
type Setting = readonly [option: TextOption, read: (value: string, name: string) => string | boolean];

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
 * Creates the endpoint from the section of a configuration file: `disable_by_file_path = /run/drain` and so on. All
 * values are text, lists are separated by commas, true/false may be 1/0, yes/no or on/off in any case.
 *
 * @param code options that text cannot represent: checks that `backends` may name, groups, the log
 * @throws HealthcheckConfigError for unknown names and malformed values, under their name in the record
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
  for (const [name, [option, read]] of NAMES) {
    const value = record[name];
    if (value === undefined) continue;
    if (typeof value !== 'string')
      throw new HealthcheckConfigError(name, 'is not a string', 'Give the text of the file');
    options[option] = read(value, name);
  }
  try {
    return healthcheck(options);
  } catch (error) {
    throw withOriginalMessage(error);
  }
}

function flag(value: string, name: string): boolean {
  const read = FLAGS.get(value.trim().toLowerCase());
  if (read !== undefined) return read;
  throw new HealthcheckConfigError(name, `"${value}" is neither true nor false`, 'Write true or false');
}

/** Names the option in the spelling of the file. */
function withOriginalMessage(error: unknown): unknown {
  if (!(error instanceof HealthcheckConfigError)) return error;
  const spelled = [...NAMES].find(([, [option]]) => option === error.option);
  return spelled ? error.named(spelled[0]) : error;
}
