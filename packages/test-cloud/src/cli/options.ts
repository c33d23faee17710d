import { parseArgs } from 'node:util';
import { PRINTS, type Print } from '../environment.js';
import { TestCloudError } from '../errors.js';
import type { CloudOptions } from '../options.js';

/** What the command takes; the help is made of it. */
const SPEC = {
  port: { type: 'string', value: 'N', help: 'port to listen on (default: 8774; 0 for a free one)' },
  host: { type: 'string', value: 'ADDRESS', help: 'address to listen on (default: 127.0.0.1)' },
  preset: { type: 'string', value: 'NAME', help: 'minimal, small (default) or large (100,000 servers, 500 hosts)' },
  print: { type: 'string', value: 'FORM', help: 'env (default), clouds.yaml or terraform: how clients are told' },
  user: { type: 'string', value: 'NAME', help: 'user of what is printed (default: admin)' },
  project: { type: 'string', value: 'NAME', help: 'project of what is printed (default: demo)' },
  'wait-for-clients': {
    type: 'string',
    value: 'S',
    help: 'end when clients have come and then asked nothing for S seconds',
  },
  control: { type: 'boolean', help: '--no-control: no rules, reset, states, clock over HTTP or on the page' },
  latency: { type: 'string', value: 'MS', help: 'time that every step of a machine takes (default: 0)' },
  pace: { type: 'string', value: 'NAME', help: 'instant (default) or realistic (300 ms a step), instead of --latency' },
  transient: {
    type: 'string',
    value: 'MS',
    help: 'how long a passing state waits to be read (default: 150; 0: it does not)',
  },
  'max-version': { type: 'string', value: 'X.Y', help: 'highest compute microversion, or latest (default: 2.100)' },
  record: {
    type: 'string',
    value: 'FILE',
    help: 'stand in front of a real cloud and write what is said to a HAR file',
  },
  upstream: { type: 'string', value: 'URL', help: 'identity service of that cloud (default: $OS_AUTH_URL)' },
  region: { type: 'string', value: 'NAME', help: 'region of that cloud (default: $OS_REGION_NAME, or its first)' },
  interface: { type: 'string', value: 'NAME', help: 'public (default), internal or admin addresses of that cloud' },
  verify: { type: 'string', value: 'FILE', help: 'repeat a recording here and tell where answers differ in form' },
  quiet: { type: 'boolean', help: 'no log of requests' },
  help: { type: 'boolean', help: 'this text' },
} as const;

/** A real cloud to record. */
export interface RecordOptions {
  readonly file: string;
  readonly authUrl: string;
  readonly region: string | undefined;
  readonly interface: string | undefined;
}

export interface CommandOptions {
  readonly cloud: CloudOptions;
  readonly print: Print;
  readonly user: string | undefined;
  readonly project: string | undefined;
  /** Milliseconds without a request after which the command ends; undefined: never. */
  readonly waitForClientsMs: number | undefined;
  readonly record: RecordOptions | undefined;
  /** A recording to verify. */
  readonly verify: string | undefined;
  /** A program to run in the environment of the cloud, with its arguments. */
  readonly program: readonly string[] | undefined;
  readonly quiet: boolean;
  readonly help: boolean;
}

/** Something about the command line that its user can put right. */
export class CommandError extends TestCloudError {
  constructor(message: string) {
    super('COMMAND_LINE', message);
  }
}

export function helpText(): string {
  const lines = Object.entries(SPEC).map(([name, option]) => {
    const { value } = option as { value?: string };
    return `  ${`--${name}${value ? ` ${value}` : ''}`.padEnd(24)}${option.help}`;
  });
  return [
    'apistrata-test-cloud: a cloud for tests, in memory',
    '',
    'Runs a program with the cloud in its environment, and ends with its status:',
    '  npx @apistrata/test-cloud -- pytest',
    'Or stays, tells clients on standard output how to reach it, and logs to standard error:',
    '  npx @apistrata/test-cloud > cloud.env & sleep 2; . ./cloud.env; openstack server list',
    '',
    ...lines,
    '',
  ].join('\n');
}

function wholeNumber(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d+$/.test(text)) throw new CommandError(`--${name} needs a whole number, not "${text}"`);
  return Number(text);
}

function recordOptions(
  given: { record?: string; upstream?: string; region?: string; interface?: string },
  env: NodeJS.ProcessEnv,
): RecordOptions | undefined {
  const { record: file, upstream, region, interface: requested } = given;
  if (file === undefined) {
    const needless = ['upstream', 'region', 'interface'].find(
      (name) => given[name as keyof typeof given] !== undefined,
    );
    if (needless) throw new CommandError(`--${needless} says which cloud to record: it needs --record FILE`);
    return undefined;
  }
  const authUrl = upstream ?? env.OS_AUTH_URL;
  if (!authUrl) throw new CommandError('--record needs the cloud: --upstream URL, or OS_AUTH_URL in the environment');
  if (!/^https?:$/.test(URL.canParse(authUrl) ? new URL(authUrl).protocol : ''))
    throw new CommandError(`the cloud to record is an http or https address, not "${authUrl}"`);
  return { file, authUrl, region: region ?? env.OS_REGION_NAME, interface: requested ?? env.OS_INTERFACE };
}

/** Throws {@link CommandError} for what is not an option, or has no sense as a value. */
export function readCommand(args: readonly string[], env: NodeJS.ProcessEnv = {}): CommandOptions {
  const end = args.indexOf('--');
  const program = end < 0 ? undefined : args.slice(end + 1);
  if (program?.length === 0) throw new CommandError('after -- comes a program to run');
  const parsed = (() => {
    try {
      const own = end < 0 ? [...args] : args.slice(0, end);
      return parseArgs({ args: own, options: SPEC, strict: true, allowNegative: true, allowPositionals: false }).values;
    } catch (error) {
      throw new CommandError((error as Error).message);
    }
  })();
  const { print = 'env' } = parsed;
  if (!Object.hasOwn(PRINTS, print))
    throw new CommandError(`--print is ${Object.keys(PRINTS).join(', ')}, not "${print}"`);
  const seconds = wholeNumber('wait-for-clients', parsed['wait-for-clients']);
  const modes = [parsed.record !== undefined, parsed.verify !== undefined, program !== undefined].filter(Boolean);
  if (modes.length > 1) throw new CommandError('--record, --verify and a program after -- exclude each other');
  return {
    cloud: {
      port: wholeNumber('port', parsed.port) ?? (parsed.verify || program ? 0 : 8774),
      host: parsed.host,
      preset: parsed.preset as CloudOptions['preset'],
      control: parsed.control ?? true,
      latencyMs: wholeNumber('latency', parsed.latency),
      pace: parsed.pace as CloudOptions['pace'],
      transientMs: wholeNumber('transient', parsed.transient) ?? 150,
      maxVersion: parsed['max-version'],
    },
    print: print as Print,
    user: parsed.user,
    project: parsed.project,
    waitForClientsMs: seconds === undefined ? undefined : seconds * 1000,
    record: recordOptions(parsed, env),
    verify: parsed.verify,
    program,
    quiet: parsed.quiet ?? false,
    help: parsed.help ?? false,
  };
}
