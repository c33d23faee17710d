import { parseArgs } from 'node:util';
import { SETTINGS_FORMATS, type SettingsFormat } from '../environment.js';
import { TestCloudError } from '../errors.js';
import type { CloudOptions } from '../options.js';

/** The command's options, from which the help text is generated. */
const OPTION_DEFINITIONS = {
  port: { type: 'string', value: 'N', help: 'port to listen on (default: 8774; 0 for a free one)' },
  host: { type: 'string', value: 'ADDRESS', help: 'address to listen on (default: 127.0.0.1)' },
  'allowed-host': {
    type: 'string',
    multiple: true,
    value: 'NAME',
    help: 'additional name to accept in the Host header; repeatable (on loopback, requests for other names return 421)',
  },
  preset: { type: 'string', value: 'NAME', help: 'minimal, small (default) or large (100,000 servers, 500 hosts)' },
  print: {
    type: 'string',
    value: 'FORMAT',
    help: 'format of the client settings: env (default), clouds.yaml or terraform',
  },
  user: { type: 'string', value: 'NAME', help: 'user of the printed settings (default: admin; demo for clouds.yaml)' },
  project: { type: 'string', value: 'NAME', help: 'project of the printed settings (default: demo)' },
  'wait-for-clients': {
    type: 'string',
    value: 'S',
    help: 'exit after clients have connected and then sent no request for S seconds',
  },
  control: {
    type: 'boolean',
    help: 'serve /_control (rules, reset, saved states and clock), and enable changes on the page (default; opposite: --no-control)',
  },
  latency: { type: 'string', value: 'MS', help: 'duration of each machine step in ms (default: 0)' },
  pace: {
    type: 'string',
    value: 'NAME',
    help: 'instant (default) or realistic (300 ms per machine step), instead of --latency',
  },
  transient: {
    type: 'string',
    value: 'MS',
    help: 'maximum time in ms to keep a transient state until a client reads it (default: 150; 0: no wait)',
  },
  'max-version': { type: 'string', value: 'X.Y', help: 'highest compute microversion, or latest (default: 2.100)' },
  record: {
    type: 'string',
    value: 'FILE',
    help: 'run as a proxy in front of a real cloud, and record its traffic in a HAR file',
  },
  upstream: { type: 'string', value: 'URL', help: 'identity service of the real cloud (default: $OS_AUTH_URL)' },
  region: { type: 'string', value: 'NAME', help: 'region to record (default: $OS_REGION_NAME, or the first one)' },
  interface: { type: 'string', value: 'NAME', help: 'endpoints to record: public (default), internal or admin' },
  verify: { type: 'string', value: 'FILE', help: 'repeat a recording and report where response formats differ' },
  quiet: { type: 'boolean', help: 'do not log requests' },
  help: { type: 'boolean', help: 'print this text' },
} as const;

/** The options for recording the traffic of a real cloud. */
export interface RecordOptions {
  readonly file: string;
  readonly authUrl: string;
  readonly region: string | undefined;
  readonly interface: string | undefined;
}

export interface CommandOptions {
  readonly cloud: CloudOptions;
  readonly print: SettingsFormat;
  readonly user: string | undefined;
  readonly project: string | undefined;
  /** The time after the latest request at which the command ends, in milliseconds; undefined: no limit. */
  readonly waitForClientsMs: number | undefined;
  readonly record: RecordOptions | undefined;
  /** The path of the recording to verify. */
  readonly verify: string | undefined;
  /** The program and arguments to run with the cloud's environment variables. */
  readonly program: readonly string[] | undefined;
  readonly quiet: boolean;
  readonly help: boolean;
}

/** The error for an invalid command line. */
export class CommandError extends TestCloudError {
  constructor(message: string) {
    super('COMMAND_LINE', message);
  }
}

export function helpText(): string {
  const optionLines = Object.entries(OPTION_DEFINITIONS).map(([name, option]) => {
    const { value } = option as { value?: string };
    return `  ${`--${name}${value ? ` ${value}` : ''}`.padEnd(24)}${option.help}`;
  });
  return [
    'apistrata-test-cloud: an in-memory cloud for tests',
    '',
    'Runs a program with the settings of the cloud in its environment, and exits with the same status:',
    '  npx @apistrata/test-cloud -- pytest',
    'Without a program, keeps running, prints the settings for clients on standard output, and logs to standard error:',
    '  npx @apistrata/test-cloud > cloud.env & sleep 2; . ./cloud.env; openstack server list',
    '',
    ...optionLines,
    '',
  ].join('\n');
}

function parseInteger(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d+$/.test(text)) throw new CommandError(`--${name} must be an integer, not "${text}"`);
  return Number(text);
}

function parseRecordOptions(
  parsed: { record?: string; upstream?: string; region?: string; interface?: string },
  env: NodeJS.ProcessEnv,
): RecordOptions | undefined {
  const { record: file, upstream, region, interface: requested } = parsed;
  if (file === undefined) {
    const recordOnlyOption = ['upstream', 'region', 'interface'].find(
      (name) => parsed[name as keyof typeof parsed] !== undefined,
    );
    if (recordOnlyOption) throw new CommandError(`--${recordOnlyOption} requires --record FILE`);
    return undefined;
  }
  const authUrl = upstream ?? env.OS_AUTH_URL;
  if (!authUrl) throw new CommandError('--record requires --upstream URL, or OS_AUTH_URL in the environment');
  if (!/^https?:$/.test(URL.canParse(authUrl) ? new URL(authUrl).protocol : ''))
    throw new CommandError(`the address of the cloud to record must be an http or https URL, not "${authUrl}"`);
  return { file, authUrl, region: region ?? env.OS_REGION_NAME, interface: requested ?? env.OS_INTERFACE };
}

/** Parses the command line. @throws CommandError for an unknown option or an invalid value */
export function readCommand(args: readonly string[], env: NodeJS.ProcessEnv = {}): CommandOptions {
  const separatorIndex = args.indexOf('--');
  const program = separatorIndex < 0 ? undefined : args.slice(separatorIndex + 1);
  if (program?.length === 0) throw new CommandError('-- must be followed by a program to run');
  const parsed = (() => {
    try {
      const cloudArgs = separatorIndex < 0 ? [...args] : args.slice(0, separatorIndex);
      const { values } = parseArgs({
        args: cloudArgs,
        options: OPTION_DEFINITIONS,
        strict: true,
        allowNegative: true,
        allowPositionals: false,
      });
      return values;
    } catch (error) {
      throw new CommandError((error as Error).message);
    }
  })();
  const { print = 'env' } = parsed;
  if (!Object.hasOwn(SETTINGS_FORMATS, print))
    throw new CommandError(`--print must be one of ${Object.keys(SETTINGS_FORMATS).join(', ')}, not "${print}"`);
  const waitSeconds = parseInteger('wait-for-clients', parsed['wait-for-clients']);
  const selectedModes = [parsed.record !== undefined, parsed.verify !== undefined, program !== undefined].filter(
    Boolean,
  );
  if (selectedModes.length > 1)
    throw new CommandError('--record, --verify and a program after -- are mutually exclusive');
  return {
    cloud: {
      port: parseInteger('port', parsed.port) ?? (parsed.verify || program ? 0 : 8774),
      host: parsed.host,
      allowedHosts: parsed['allowed-host'],
      preset: parsed.preset as CloudOptions['preset'],
      control: parsed.control ?? true,
      latencyMs: parseInteger('latency', parsed.latency),
      pace: parsed.pace as CloudOptions['pace'],
      transientMs: parseInteger('transient', parsed.transient) ?? 150,
      maxVersion: parsed['max-version'],
    },
    print: print as SettingsFormat,
    user: parsed.user,
    project: parsed.project,
    waitForClientsMs: waitSeconds === undefined ? undefined : waitSeconds * 1000,
    record: parseRecordOptions(parsed, env),
    verify: parsed.verify,
    program,
    quiet: parsed.quiet ?? false,
    help: parsed.help ?? false,
  };
}
