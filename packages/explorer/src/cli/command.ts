import { parseArgs } from 'node:util';
import { CommandError } from './command-error.js';
import { COMMAND_OPTIONS, COMMANDS, type CommandName, OPTION_LIST } from './command-options.js';

/** A parsed command line. */
export interface Command {
  readonly name: CommandName;
  /** OpenAPI documents, as `FILE` or `VERSION=FILE`. */
  readonly files: readonly string[];
  readonly version: string | undefined;
  readonly to: string | undefined;
  readonly operations: string | undefined;
  readonly out: string | undefined;
  readonly actions: 'one-of' | 'separate';
  readonly format: 'markdown' | 'json' | 'text' | 'github';
  readonly against: string | undefined;
  readonly strict: boolean;
  readonly changelog: string | undefined;
  readonly port: number;
  readonly host: string;
  readonly allowedHosts: readonly string[];
  readonly openapi: 'all' | 'newest' | 'none';
  readonly appearance: PageAppearance;
}

/** Command-line options for the appearance of the pages. */
export interface PageAppearance {
  readonly title?: string | undefined;
  readonly server?: string | undefined;
  readonly logo?: string | undefined;
  readonly color?: readonly string[] | undefined;
  readonly introduction?: string | undefined;
  readonly footer?: string | undefined;
}

const DEFAULT_PORT = 8080;
const MAX_PORT = 65_535;

export function helpText(): string {
  const commands = Object.entries(COMMANDS).map(([name, help]) => `  ${name.padEnd(22)}${help}`);
  const options = OPTION_LIST.map(([name, { value, help, only }]) => {
    const prefix = only && only.length <= 2 ? `${only.join(', ')}: ` : '';
    return `  ${`--${name}${value ? ` ${value}` : ''}`.padEnd(22)}${prefix}${help}`;
  });
  return [
    'apistrata-explorer: pages, checks, documents, types and changes of a versioned API',
    '',
    '  npx @apistrata/explorer serve 2025-03-01.json 2026-11-22.yaml',
    '  npx @apistrata/explorer build 1.0=old.json 1.1=new.json --out site',
    '  npx @apistrata/explorer check --against main.json openapi.json',
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

function parseChoice<const T extends string>(
  option: string,
  text: string | undefined,
  choices: readonly [T, ...T[]],
): T {
  if (text === undefined) return choices[0];
  const matchingChoice = choices.find((choice) => choice === text);
  if (!matchingChoice) throw new CommandError(`--${option} must be ${choices.join(' or ')}, not "${text}"`);
  return matchingChoice;
}

function parsePort(text: string | undefined): number {
  if (text === undefined) return DEFAULT_PORT;
  if (!/^\d{1,5}$/.test(text) || Number(text) > MAX_PORT)
    throw new CommandError(`--port must be a number from 0 to ${MAX_PORT}, not "${text}"`);
  return Number(text);
}

function isCommand(name: string): name is CommandName {
  return Object.hasOwn(COMMANDS, name);
}

/** Maximum number of OpenAPI documents by command. Other commands accept none. */
const MAX_DOCUMENTS: Readonly<Partial<Record<CommandName, number>>> = {
  serve: 1000,
  build: 1000,
  changes: 1000,
  check: 1,
};

/** Returns the two versions that `changes` compares. Throws a {@link CommandError} if one is missing. */
export function requireVersions({ version, to }: { version?: string | undefined; to?: string | undefined }): {
  version: string;
  to: string;
} {
  if (version === undefined || to === undefined)
    throw new CommandError('"changes" requires two versions, such as --version 2.53 --to 2.100');
  return { version, to };
}

function parseArguments(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: COMMAND_OPTIONS, strict: true, allowPositionals: true });
  } catch (error) {
    const [first] = (error as Error).message.split(/\. |\n/);
    throw new CommandError(`${first}. Known options: ${OPTION_LIST.map(([name]) => `--${name}`).join(', ')}`);
  }
}

function checkFiles(name: CommandName, files: readonly string[], operations: string | undefined): void {
  const max = MAX_DOCUMENTS[name] ?? 0;
  if (files.length > max)
    throw new CommandError(
      max === 0
        ? `Unexpected argument "${files[0]}": "${name}" accepts only options`
        : `Unexpected argument "${files[max]}": "${name}" accepts one document`,
    );
  if (files.length > 0 && operations !== undefined)
    throw new CommandError('Use either OpenAPI documents or --operations, not both');
}

/** Parses the command line. Returns undefined for --help. Throws a {@link CommandError} if it is invalid. */
export function parseCommandLine(args: readonly string[]): Command | undefined {
  const { values, positionals } = parseArguments(args);
  if (values.help) return undefined;
  const [name, ...files] = positionals;
  if (name === undefined || !isCommand(name))
    throw new CommandError(
      `${name === undefined ? 'Missing command.' : `Unknown command "${name}".`} Commands: ${Object.keys(COMMANDS).join(', ')}. See --help`,
    );
  checkFiles(name, files, values.operations);
  for (const [option, { only }] of OPTION_LIST)
    if (only && !only.includes(name) && values[option as keyof typeof values] !== undefined)
      throw new CommandError(`"${name}" does not support --${option}, which is an option of ${only.join(', ')}`);
  if (name === 'changes' && files.length === 0) requireVersions(values);
  if (name === 'changes' && files.length === 1)
    throw new CommandError('"changes" requires at least two OpenAPI documents, or --version and --to');
  if (name === 'check' && values.against === undefined)
    throw new CommandError('"check" requires the published document: --against main.json');
  if (name === 'build' && values.out === undefined)
    throw new CommandError('"build" requires an output folder: --out site');
  if (name === 'openapi' && values.to !== undefined && (values.version === undefined || values.out === undefined))
    throw new CommandError('"openapi" with --to requires --version and an output folder, --out');
  const { title, server, logo, color, introduction, footer } = values;
  return {
    name,
    files,
    version: values.version,
    to: values.to,
    operations: values.operations,
    out: values.out,
    actions: parseChoice('actions', values.actions, ['one-of', 'separate']),
    format:
      name === 'check'
        ? parseChoice('format', values.format, ['text', 'json', 'markdown', 'github'])
        : parseChoice('format', values.format, ['markdown', 'json']),
    against: values.against,
    strict: values.strict ?? false,
    changelog: values.changelog,
    port: parsePort(values.port),
    host: values.host ?? '127.0.0.1',
    allowedHosts: values['allowed-host'] ?? [],
    openapi: parseChoice('openapi', values.openapi, ['all', 'newest', 'none']),
    appearance: { title, server, logo, color, introduction, footer },
  };
}
