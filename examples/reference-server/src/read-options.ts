import { parseArgs } from 'node:util';
import { readConfigFile } from './config-file.js';
import type { OptionKind } from './option-kinds.js';
import { type Options, optionTable } from './options.js';
import { StartError } from './start-error.js';
import { suggestionFor } from './suggestion.js';

type OptionValues = Partial<Record<string, unknown>>;
type OptionEntry = readonly [string, OptionKind<unknown>];
export type OptionTable = Readonly<Record<string, OptionKind<any>>>;

const optionEntries: readonly OptionEntry[] = Object.entries(optionTable);

/** Returns the name of an option's environment variable. */
export function variableOf(name: string): string {
  return `APISTRATA_${name.toUpperCase().replaceAll('-', '_')}`;
}

/** Parses the command line. @param allowPositionals whether positional arguments are allowed */
function fromCommandLine(args: readonly string[], entries: readonly OptionEntry[], allowPositionals: boolean) {
  const parserOptions = Object.fromEntries(
    entries.map(([name, { placeholder }]) => [
      name,
      placeholder === undefined ? { type: 'boolean' as const } : { type: 'string' as const, multiple: true },
    ]),
  );
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: parserOptions,
      strict: true,
      allowPositionals,
    });
    const given = readValues(
      entries,
      ([name]) => [values[name] ?? []].flat().map(String),
      (name) => `--${name}`,
    );
    return { values: given, positionals };
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(describeParseError(error as NodeJS.ErrnoException, entries));
  }
}

/** Returns a message about a command-line error, including the fix. */
function describeParseError({ code, message }: NodeJS.ErrnoException, entries: readonly OptionEntry[]): string {
  const option = /'(-[^' ]*)/.exec(message)?.[1] ?? '';
  const optionNames = entries.map(([name]) => `--${name}`);
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION')
    return `Unknown option "${option}". ${suggestionFor(option, optionNames, '--help lists the options.')}`;
  if (code === 'ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL') {
    const [, word = ''] = /'([^']*)'/.exec(message) ?? [];
    return `Unexpected argument "${word}". Options start with "--"; --help lists them.`;
  }
  const [, kind] = entries.find(([name]) => `--${name}` === option) ?? [];
  if (kind?.placeholder === undefined) return `Option "${option}" does not take a value.`;
  return `Option "${option}" needs a value: ${option} ${kind.placeholder}. If the value starts with a dash, write ${option}=VALUE.`;
}

/** Returns whether the arguments request help: `--help`, `-h` or the word `help`. */
export function isHelpRequested(args: readonly string[]): boolean {
  return args.includes('--help') || args.includes('-h') || args[0] === 'help';
}

function fromEnvironment(environment: NodeJS.ProcessEnv): OptionValues {
  const textsOf = ([name, { repeat }]: OptionEntry) => {
    const given = environment[variableOf(name)];
    if (given === undefined || given === '') return [];
    return repeat ? given.split(',').map((text) => text.trim()) : [given];
  };
  return readValues(optionEntries, textsOf, variableOf);
}

function readValues(
  entries: readonly OptionEntry[],
  textsOf: (entry: OptionEntry) => readonly string[],
  labelOf: (name: string) => string,
): OptionValues {
  return Object.fromEntries(
    entries.flatMap((entry) => {
      const texts = textsOf(entry);
      const [name, kind] = entry;
      return texts.length === 0 ? [] : [[name, kind.read(labelOf(name), texts)]];
    }),
  );
}

/** Merges the values of several sources, given in ascending order of precedence, into the effective values. */
function effectiveValues(entries: readonly OptionEntry[], layers: readonly OptionValues[]): OptionValues {
  return Object.fromEntries(
    entries.map(([name, { combine, fallback }]) => {
      const given = layers.map((layer) => layer[name]).filter((value) => value !== undefined);
      return [name, given.length === 0 ? fallback : combine(given)];
    }),
  );
}

function optionsFrom(flags: OptionValues, environment: NodeJS.ProcessEnv): Options {
  const variables = fromEnvironment(environment);
  const configFile = (flags.config ?? variables.config) as string | undefined;
  return effectiveValues(optionEntries, [
    configFile === undefined ? {} : readConfigFile(configFile),
    variables,
    flags,
  ]) as Options;
}

/**
 * Reads the options of the program. The command line overrides the environment, which overrides the configuration
 * file. Named values (`--setting` and the like) are merged name by name.
 *
 * @throws StartError for an unknown or invalid option, with its name, the problem and the fix
 */
export function readOptions(args: readonly string[], environment: NodeJS.ProcessEnv): Options {
  return optionsFrom(fromCommandLine(args, optionEntries, false).values, environment);
}

/** The parsed command line of a command: positional arguments, its own options, and the server's options. */
export interface CommandLine {
  readonly positionals: readonly string[];
  readonly own: OptionValues;
  readonly options: Options;
}

/**
 * Parses the arguments of a command: positional arguments, the command's own options, and the server's options.
 * @throws StartError
 */
export function readCommandLine(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
  table: OptionTable,
): CommandLine {
  const ownEntries = Object.entries(table);
  const { values, positionals } = fromCommandLine(args, [...optionEntries, ...ownEntries], true);
  return { positionals, own: effectiveValues(ownEntries, [values]), options: optionsFrom(values, environment) };
}
