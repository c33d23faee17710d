import { parseArgs } from 'node:util';
import { CommandError } from './command-error.js';

/** What the command makes, by its name. */
const COMMANDS = {
  openapi: 'the OpenAPI document of a version; with --to one file for each version, in the folder --out',
  types: 'a TypeScript module with the bodies, queries and answers of all versions, or of --version to --to',
  changes: 'what a client of --version meets at --to, what may break it first',
} as const;

export type CommandName = keyof typeof COMMANDS;

/** The options; the help and the check of which command takes which are made of it. */
const SPEC = {
  version: {
    type: 'string',
    value: 'V',
    help: 'the version, or the first of two (default: the highest; for types the lowest)',
  },
  to: { type: 'string', value: 'V2', help: 'the second version' },
  operations: {
    type: 'string',
    value: 'MODULE',
    help: 'file or package that exports `operations` (default: the compute API)',
  },
  out: { type: 'string', value: 'FILE', help: 'where to write (default: standard output)' },
  actions: {
    type: 'string',
    value: 'HOW',
    help: 'one-of (default) or separate: actions that share a path',
    only: 'openapi',
  },
  format: { type: 'string', value: 'FORMAT', help: 'markdown (default) or json', only: 'changes' },
  help: { type: 'boolean', help: 'this text' },
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
  if (!found) throw new CommandError(`--${option} is ${choices.join(' or ')}, not "${text}"`);
  return found;
}

function isCommand(name: string): name is CommandName {
  return Object.hasOwn(COMMANDS, name);
}

/** The two versions that `changes` compares. Throws a {@link CommandError} where one is left out. */
export function comparedVersions({ version, to }: { version?: string; to?: string }): { version: string; to: string } {
  if (version === undefined || to === undefined)
    throw new CommandError('changes compares two versions: write --version 2.53 --to 2.100');
  return { version, to };
}

/** Reads the command line; undefined where help is asked for. Throws a {@link CommandError} that names the cure. */
export function readCommand(args: readonly string[]): Command | undefined {
  const { values, positionals } = (() => {
    try {
      return parseArgs({ args: [...args], options: SPEC, strict: true, allowPositionals: true });
    } catch (error) {
      const [first] = (error as Error).message.split(/\. |\n/);
      throw new CommandError(
        `${first}: there are ${Object.keys(SPEC)
          .map((name) => `--${name}`)
          .join(', ')}`,
      );
    }
  })();
  if (values.help) return undefined;
  const [name, extra] = positionals;
  if (name === undefined || !isCommand(name))
    throw new CommandError(
      `${name === undefined ? 'What should be made?' : `"${name}" is no command:`} Write one of ${Object.keys(COMMANDS).join(', ')}; --help tells more`,
    );
  if (extra !== undefined) throw new CommandError(`"${extra}" is one word too many: ${name} takes options only`);
  for (const [option, spec] of Object.entries(SPEC)) {
    const { only } = spec as { only?: CommandName };
    if (only && only !== name && values[option as keyof typeof values] !== undefined)
      throw new CommandError(`--${option} is for ${only}: leave it out of ${name}`);
  }
  if (name === 'changes') comparedVersions(values);
  if (name === 'openapi' && values.to !== undefined && (values.version === undefined || values.out === undefined))
    throw new CommandError(
      'openapi makes many files with --to: write --version, the first of them, and --out, their folder',
    );
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
