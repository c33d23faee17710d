import { parseArgs } from 'node:util';
import { CommandError } from './command-error.js';

/** The commands and their descriptions. */
const COMMANDS = {
  openapi: 'write the OpenAPI document of a version, or with --to one file per version to the folder --out',
  types: 'write a TypeScript module with the requests and responses of all versions, or of --version to --to',
  changes: 'write the changes from --version to --to, breaking changes first',
} as const;

export type CommandName = keyof typeof COMMANDS;

/** The options. The help text and the validation are derived from them. */
const SPEC = {
  version: {
    type: 'string',
    value: 'V',
    help: 'version, or first version of a range (default: the highest; for types the lowest)',
  },
  to: { type: 'string', value: 'V2', help: 'last version of the range' },
  operations: {
    type: 'string',
    value: 'MODULE',
    help: 'file or package that exports `operations` (default: the compute API)',
  },
  out: { type: 'string', value: 'FILE', help: 'output file (default: standard output)' },
  actions: {
    type: 'string',
    value: 'HOW',
    help: 'how to describe actions with one path: one-of (default) or separate',
    only: 'openapi',
  },
  format: { type: 'string', value: 'FORMAT', help: 'output format: markdown (default) or json', only: 'changes' },
  help: { type: 'boolean', help: 'show this help' },
} as const;

export interface Command {
  readonly name: CommandName;
  readonly version: string | undefined;
  readonly to: string | undefined;
  readonly operations: string | undefined;
  readonly out: string | undefined;
  readonly actions: 'one-of' | 'separate';
  readonly format: 'markdown' | 'json';
}

export function helpText(): string {
  const commands = Object.entries(COMMANDS).map(([name, help]) => `  ${name.padEnd(22)}${help}`);
  const options = Object.entries(SPEC).map(([name, option]) => {
    const { value, only } = option as { value?: string; only?: string };
    return `  ${`--${name}${value ? ` ${value}` : ''}`.padEnd(22)}${only ? `${only}: ` : ''}${option.help}`;
  });
  return [
    'apistrata-explorer: documents, types and changes of a versioned API',
    '',
    '  npx @apistrata/explorer openapi --version 2.53 --out openapi.json',
    '  npx @apistrata/explorer types --out compute-api.ts',
    '  npx @apistrata/explorer changes --version 2.53 --to 2.100',
    '',
    ...commands,
    '',
    ...options,
    '',
  ].join('\n');
}

function oneOf<const T extends string>(option: string, text: string | undefined, choices: readonly [T, ...T[]]): T {
  if (text === undefined) return choices[0];
  const found = choices.find((choice) => choice === text);
  if (!found) throw new CommandError(`--${option} must be ${choices.join(' or ')}, not "${text}"`);
  return found;
}

function isCommand(name: string): name is CommandName {
  return Object.hasOwn(COMMANDS, name);
}

/** The two versions that `changes` compares. Throws a {@link CommandError} if one is missing. */
export function comparedVersions({ version, to }: { version?: string; to?: string }): { version: string; to: string } {
  if (version === undefined || to === undefined)
    throw new CommandError('The command changes requires two versions, such as --version 2.53 --to 2.100');
  return { version, to };
}

/** Parses the command line. Returns undefined for --help. Throws a {@link CommandError} if it is invalid. */
export function readCommand(args: readonly string[]): Command | undefined {
  const { values, positionals } = (() => {
    try {
      return parseArgs({ args: [...args], options: SPEC, strict: true, allowPositionals: true });
    } catch (error) {
      const [first] = (error as Error).message.split(/\. |\n/);
      throw new CommandError(
        `${first}. Known options: ${Object.keys(SPEC)
          .map((name) => `--${name}`)
          .join(', ')}`,
      );
    }
  })();
  if (values.help) return undefined;
  const [name, extra] = positionals;
  if (name === undefined || !isCommand(name))
    throw new CommandError(
      `${name === undefined ? 'Missing command.' : `Unknown command "${name}".`} Commands: ${Object.keys(COMMANDS).join(', ')}. See --help`,
    );
  if (extra !== undefined)
    throw new CommandError(`Unexpected argument "${extra}": the command ${name} accepts only options`);
  for (const [option, spec] of Object.entries(SPEC)) {
    const { only } = spec as { only?: CommandName };
    if (only && only !== name && values[option as keyof typeof values] !== undefined)
      throw new CommandError(`The command ${name} does not support --${option}, which is an option of ${only}`);
  }
  if (name === 'changes') comparedVersions(values);
  if (name === 'openapi' && values.to !== undefined && (values.version === undefined || values.out === undefined))
    throw new CommandError('The command openapi with --to requires --version and an output folder, --out');
  return {
    name,
    version: values.version,
    to: values.to,
    operations: values.operations,
    out: values.out,
    actions: oneOf('actions', values.actions, ['one-of', 'separate']),
    format: oneOf('format', values.format, ['markdown', 'json']),
  };
}
