import { parseArgs } from 'node:util';
import { readConfigFile } from './config-file.js';
import type { OptionKind } from './option-kinds.js';
import { type Options, optionTable } from './options.js';
import { StartError } from './start-error.js';

type Values = Partial<Record<string, unknown>>;
type Entry = readonly [string, OptionKind<unknown>];
export type OptionTable = Readonly<Record<string, OptionKind<any>>>;

const kinds: readonly Entry[] = Object.entries(optionTable);

/** The name of an option in the environment. */
export function variableOf(name: string): string {
  return `APISTRATA_${name.toUpperCase().replaceAll('-', '_')}`;
}

/** @param words whether there may be anything but options */
function fromCommandLine(args: readonly string[], entries: readonly Entry[], words: boolean) {
  const config = Object.fromEntries(
    entries.map(([name, { placeholder }]) => [
      name,
      placeholder === undefined ? { type: 'boolean' as const } : { type: 'string' as const, multiple: true },
    ]),
  );
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: config,
      strict: true,
      allowPositionals: words,
    });
    const given = read(
      entries,
      ([name]) => [values[name] ?? []].flat().map(String),
      (name) => `--${name}`,
    );
    return { values: given, words: positionals };
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`${(error as Error).message.split('. ')[0]}; --help lists the options`);
  }
}

function fromEnvironment(environment: NodeJS.ProcessEnv): Values {
  const textsOf = ([name, { repeat }]: Entry) => {
    const given = environment[variableOf(name)];
    if (given === undefined || given === '') return [];
    return repeat ? given.split(',').map((text) => text.trim()) : [given];
  };
  return read(kinds, textsOf, variableOf);
}

function read(
  entries: readonly Entry[],
  textsOf: (entry: Entry) => readonly string[],
  labelOf: (name: string) => string,
): Values {
  return Object.fromEntries(
    entries.flatMap((entry) => {
      const texts = textsOf(entry);
      const [name, kind] = entry;
      return texts.length === 0 ? [] : [[name, kind.read(labelOf(name), texts)]];
    }),
  );
}

/** What is in force of several layers, the last one the strongest. */
function inForce(entries: readonly Entry[], layers: readonly Values[]): Values {
  return Object.fromEntries(
    entries.map(([name, { combine, fallback }]) => {
      const given = layers.map((layer) => layer[name]).filter((value) => value !== undefined);
      return [name, given.length === 0 ? fallback : combine(given)];
    }),
  );
}

function optionsFrom(flags: Values, environment: NodeJS.ProcessEnv): Options {
  const variables = fromEnvironment(environment);
  const file = (flags.config ?? variables.config) as string | undefined;
  return inForce(kinds, [file === undefined ? {} : readConfigFile(file), variables, flags]) as Options;
}

/**
 * The options of the program: the configuration file, above it the environment, above that the command line. Named values
 * (`--setting` and the like) are laid over each other name by name.
 *
 * @throws StartError for what is unknown or out of bounds, with its name, the cause and what it takes instead
 */
export function readOptions(args: readonly string[], environment: NodeJS.ProcessEnv): Options {
  return optionsFrom(fromCommandLine(args, kinds, false).values, environment);
}

/** What a command was told: its words, its own options, and those of the server that it is about. */
export interface CommandLine {
  readonly words: readonly string[];
  readonly own: Values;
  readonly options: Options;
}

/**
 * The same for commands, which have words and options of their own beside those of the server.
 * @throws StartError
 */
export function readCommandLine(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
  table: OptionTable,
): CommandLine {
  const ownKinds = Object.entries(table);
  const { values, words } = fromCommandLine(args, [...kinds, ...ownKinds], true);
  return { words, own: inForce(ownKinds, [values]), options: optionsFrom(values, environment) };
}
