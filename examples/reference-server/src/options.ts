import { parseArgs } from 'node:util';

/** A mistake of whoever starts the program; its message is all they need to see. */
export class StartError extends Error {}

interface OptionSpec {
  readonly value: string | undefined;
  readonly default?: string;
  readonly help: string;
  readonly repeat?: true;
}

/** Every option. Each is also an environment variable: APISTRATA_ and the name in capitals, dashes as underscores. */
const specs = {
  host: { value: 'H', default: '127.0.0.1', help: 'address to listen on' },
  port: { value: 'N', default: '8774', help: 'port to listen on; 0 takes a free one' },
  db: { value: 'URL', help: ':memory:, a file, or postgres://...; default: data/compute.db, made when missing' },
  durability: {
    value: 'D',
    default: 'disk',
    help: 'what 202 promises of a SQLite file: disk (outlives a power cut) or process (only its end; faster)',
  },
  database: {
    value: 'NAME=N',
    help: 'a limit of the database, such as poolSize=20 or statementTimeoutMs=60000',
    repeat: true,
  },
  'older-than': { value: 'AGE', help: 'with purge: how long ago servers were deleted, such as 30d, 12h or 0d' },
  'secret-key-file': {
    value: 'FILE',
    help: 'keys that seal secrets in the database, one in each line, made when missing; default: beside a SQLite file, data/secret.key for PostgreSQL, where every process needs the same',
  },
  auth: { value: 'KIND', default: 'noauth', help: 'noauth, tokens (with --tokens) or identity (with --identity-url)' },
  'noauth-project': { value: 'ID', help: 'project of noauth tokens that name none' },
  tokens: { value: 'FILE', help: 'JSON object: token -> { userId, projectId, roles }' },
  preset: { value: 'FILE', help: 'JSON file: what the cloud has from the start (see --print-preset)' },
  'print-preset': { value: undefined, help: 'print the built-in preset and end' },
  headers: { value: 'NAMES', default: 'both', help: 'version headers: service, openstack or both' },
  'max-version': { value: 'V', default: '2.100', help: 'highest microversion, up to 2.104' },
  'latency-ms': { value: 'N', default: '0', help: 'time every step of a simulated machine takes' },
  'policy-file': { value: 'FILE', help: 'policies that replace defaults' },
  setting: { value: 'NAME=VALUE', help: 'a setting of the engine, such as reclaimSeconds=3600', repeat: true },
  quota: {
    value: 'NAME=N',
    help: 'a default limit, such as instances=-1; quota_secrets=... for project quotas',
    repeat: true,
  },
  limit: {
    value: 'NAME=N',
    help: 'a limit of connections, such as maxConnections=500 or keepAliveMs=75000',
    repeat: true,
  },
  'drain-ms': { value: 'N', default: '5000', help: 'how long requests are still served after SIGTERM or SIGINT' },
  healthcheck: { value: 'NAME=VALUE', help: 'an option of the health endpoint, such as detailed=true', repeat: true },
  'healthcheck-config': { value: 'FILE', help: 'JSON object with options of the health endpoint' },
  'cors-origin': { value: 'ORIGIN', help: 'pages of this origin may be clients; * for all', repeat: true },
  'identity-url': { value: 'URL', help: 'identity service, v3' },
  'image-url': { value: 'URL', help: 'image service, v2, instead of the built-in one' },
  'network-url': { value: 'URL', help: 'network service, v2' },
  'volume-url': { value: 'URL', help: 'volume service, v3' },
  'log-level': { value: 'L', default: 'info', help: 'silent, error, warn, info, debug or trace' },
  help: { value: undefined, help: 'this text' },
} as const satisfies Record<string, OptionSpec>;

type Name = keyof typeof specs;

/** What the program was told. Texts, as given; what they mean is checked where they are used. */
export type Options = Readonly<Record<Name, string | undefined>> & {
  readonly lists: Readonly<
    Record<'setting' | 'database' | 'quota' | 'limit' | 'healthcheck' | 'cors-origin', readonly string[]>
  >;
};

function variable(name: string): string {
  return `APISTRATA_${name.toUpperCase().replaceAll('-', '_')}`;
}

/** Reads command line and environment; the command line wins. Throws {@link StartError} for what it does not know. */
export function readOptions(args: readonly string[], environment: NodeJS.ProcessEnv): Options {
  const config = Object.fromEntries(
    Object.entries(specs as Record<string, OptionSpec>).map(([name, { value, repeat }]) => [
      name,
      { type: value === undefined ? ('boolean' as const) : ('string' as const), ...(repeat && { multiple: true }) },
    ]),
  );
  let values: Record<string, unknown>;
  try {
    values = parseArgs({
      args: args.filter((arg) => arg !== '--'),
      options: config,
      strict: true,
      allowPositionals: false,
    }).values;
  } catch (error) {
    throw new StartError(`${(error as Error).message.split('. ')[0]}; --help lists the options`);
  }
  const read = (name: string, spec: OptionSpec) => {
    if (spec.repeat) return undefined;
    const given = values[name] ?? environment[variable(name)] ?? spec.default;
    return given === undefined ? undefined : String(given);
  };
  const list = (name: string) =>
    (values[name] as string[] | undefined) ?? environment[variable(name)]?.split(',').map((s) => s.trim()) ?? [];
  const plain = Object.fromEntries(
    Object.entries(specs as Record<string, OptionSpec>).map(([name, spec]) => [name, read(name, spec)]),
  );
  return {
    ...(plain as Record<Name, string | undefined>),
    lists: {
      setting: list('setting'),
      database: list('database'),
      quota: list('quota'),
      limit: list('limit'),
      healthcheck: list('healthcheck'),
      'cors-origin': list('cors-origin'),
    },
  };
}

/** The text of --help. */
export function helpText(): string {
  const rows = Object.entries(specs as Record<string, OptionSpec>).map(
    ([name, { value, default: fallback, help, repeat }]) => {
      const left = `  --${name}${value ? ` ${value}` : ''}`;
      return `${left.padEnd(30)}${help}${fallback ? ` (default ${fallback})` : ''}${repeat ? '; may be repeated' : ''}`;
    },
  );
  return [
    'Usage: npm start -- [options]',
    '       npm start -- purge --older-than AGE [--db URL]',
    '',
    'Serves the compute API, with simulated machines. purge removes deleted servers and all that is told of them; a',
    'server that runs does so by itself: --setting retentionDays=N, historyRetentionDays=N, usageRetentionDays=N.',
    '',
    ...rows,
    '',
    'Each option may also be an environment variable: --log-level is APISTRATA_LOG_LEVEL.',
    'Credentials for real services: OS_USERNAME, OS_PASSWORD, OS_PROJECT_NAME, OS_USER_DOMAIN_NAME, OS_PROJECT_DOMAIN_NAME.',
  ].join('\n');
}

/** Reads a whole number between bounds; throws {@link StartError} with the option's name otherwise. */
export function wholeNumber(name: Name, text: string, least: number, most: number): number {
  const number = Number(text);
  if (!/^-?\d+$/.test(text) || number < least || number > most) {
    throw new StartError(`--${name} is '${text}': it takes a whole number from ${least} to ${most}`);
  }
  return number;
}

/** One of several words; throws {@link StartError} that lists them otherwise. */
export function oneOf<T extends string>(name: Name, text: string, words: readonly T[]): T {
  const found = words.find((word) => word === text);
  if (!found) throw new StartError(`--${name} is '${text}': it takes ${words.join(', ')}`);
  return found;
}

/** `NAME=VALUE` pairs of a repeatable option. */
export function pairs(name: Name, texts: readonly string[]): readonly (readonly [string, string])[] {
  return texts.map((text) => {
    const mark = text.indexOf('=');
    if (mark < 1) throw new StartError(`--${name} is '${text}': it takes NAME=VALUE`);
    return [text.slice(0, mark), text.slice(mark + 1)] as const;
  });
}
