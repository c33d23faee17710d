import { parseArgs } from 'node:util';
import type { CloudOptions } from '../options.js';

/** What the command takes; the help is made of it. */
const SPEC = {
  port: { type: 'string', value: 'N', help: 'port to listen on (default: 8774; 0 for a free one)' },
  host: { type: 'string', value: 'ADDRESS', help: 'address to listen on (default: 127.0.0.1)' },
  preset: { type: 'string', value: 'NAME', help: 'minimal, small (default) or large (100,000 servers, 500 hosts)' },
  format: { type: 'string', value: 'FORMAT', help: 'env (default) or clouds.yaml: what is printed' },
  user: { type: 'string', value: 'NAME', help: 'user of the printed environment (default: admin)' },
  project: { type: 'string', value: 'NAME', help: 'project of the printed environment (default: demo)' },
  control: { type: 'boolean', help: '--no-control: no rules, reset, states, clock over HTTP or on the page' },
  latency: { type: 'string', value: 'MS', help: 'time that every step of a machine takes (default: 0)' },
  pace: { type: 'string', value: 'NAME', help: 'instant (default) or realistic (300 ms a step), instead of --latency' },
  transient: {
    type: 'string',
    value: 'MS',
    help: 'how long a passing state waits to be read (default: 150; 0: it does not)',
  },
  'max-version': { type: 'string', value: 'X.Y', help: 'highest compute microversion (default: 2.100)' },
  quiet: { type: 'boolean', help: 'no log of requests' },
  help: { type: 'boolean', help: 'this text' },
} as const;

export interface CommandOptions {
  readonly cloud: CloudOptions;
  readonly format: 'env' | 'clouds.yaml';
  readonly user: string | undefined;
  readonly project: string | undefined;
  readonly quiet: boolean;
  readonly help: boolean;
}

/** Something about the command line that its user can put right. */
export class CommandError extends Error {
  readonly code = 'COMMAND_LINE';
}

export function helpText(): string {
  const lines = Object.entries(SPEC).map(([name, option]) => {
    const { value } = option as { value?: string };
    return `  ${`--${name}${value ? ` ${value}` : ''}`.padEnd(22)}${option.help}`;
  });
  return [
    'apistrata-test-cloud: a cloud for tests, in memory',
    '',
    'The environment for clients goes to standard output, the log to standard error:',
    '  npx @apistrata/test-cloud > cloud.env & sleep 2; . ./cloud.env; openstack server list',
    '',
    ...lines,
    '',
  ].join('\n');
}

function wholeNumber(name: string, text: string | undefined, fallback: number): number {
  if (text === undefined) return fallback;
  if (!/^\d+$/.test(text)) throw new CommandError(`--${name} needs a whole number, not "${text}"`);
  return Number(text);
}

/** Throws {@link CommandError} for what is not an option, or has no sense as a value. */
export function readCommand(args: readonly string[]): CommandOptions {
  const parsed = (() => {
    try {
      return parseArgs({ args: [...args], options: SPEC, strict: true, allowNegative: true, allowPositionals: false })
        .values;
    } catch (error) {
      throw new CommandError((error as Error).message);
    }
  })();
  const { format = 'env' } = parsed;
  if (format !== 'env' && format !== 'clouds.yaml')
    throw new CommandError(`--format is env or clouds.yaml, not "${format}"`);
  return {
    cloud: {
      port: wholeNumber('port', parsed.port, 8774),
      host: parsed.host,
      preset: parsed.preset as CloudOptions['preset'],
      control: parsed.control ?? true,
      latencyMs: parsed.latency === undefined ? undefined : wholeNumber('latency', parsed.latency, 0),
      pace: parsed.pace as CloudOptions['pace'],
      transientMs: wholeNumber('transient', parsed.transient, 150),
      maxVersion: parsed['max-version'],
    },
    format,
    user: parsed.user,
    project: parsed.project,
    quiet: parsed.quiet ?? false,
    help: parsed.help ?? false,
  };
}
