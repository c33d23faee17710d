import { parseArgs } from 'node:util';
import { readConfigFile } from './config-file.js';
import type { OptionKind } from './option-kinds.js';
import { type OptionName, type Options, optionTable } from './options.js';
import { StartError } from './start-error.js';

type Values = Partial<Record<OptionName, unknown>>;

const kinds = Object.entries(optionTable) as [OptionName, OptionKind<unknown>][];

/** The name of an option in the environment. */
export function variableOf(name: string): string {
  return `APISTRATA_${name.toUpperCase().replaceAll('-', '_')}`;
}

function fromCommandLine(args: readonly string[]): Values {
  const config = Object.fromEntries(
    kinds.map(([name, { placeholder }]) => [
      name,
      placeholder === undefined ? { type: 'boolean' as const } : { type: 'string' as const, multiple: true },
    ]),
  );
  try {
    const { values } = parseArgs({ args: [...args], options: config, strict: true, allowPositionals: false });
    return read(
      ([name]) => [values[name] ?? []].flat().map(String),
      (name) => `--${name}`,
    );
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`${(error as Error).message.split('. ')[0]}; --help lists the options`);
  }
}

function fromEnvironment(environment: NodeJS.ProcessEnv): Values {
  const textsOf = ([name, { repeat }]: [OptionName, OptionKind<unknown>]) => {
    const given = environment[variableOf(name)];
    if (given === undefined || given === '') return [];
    return repeat ? given.split(',').map((text) => text.trim()) : [given];
  };
  return read(textsOf, variableOf);
}

function read(
  textsOf: (entry: [OptionName, OptionKind<unknown>]) => readonly string[],
  labelOf: (name: OptionName) => string,
): Values {
  return Object.fromEntries(
    kinds.flatMap((entry) => {
      const texts = textsOf(entry);
      const [name, kind] = entry;
      return texts.length === 0 ? [] : [[name, kind.read(labelOf(name), texts)]];
    }),
  );
}

/**
 * The options of the program: the configuration file, above it the environment, above that the command line. Named values
 * (`--setting` and the like) are laid over each other name by name.
 *
 * @throws StartError for what is unknown or out of bounds, with its name, the cause and what it takes instead
 */
export function readOptions(args: readonly string[], environment: NodeJS.ProcessEnv): Options {
  const flags = fromCommandLine(args);
  const variables = fromEnvironment(environment);
  const file = (flags.config ?? variables.config) as string | undefined;
  const layers: readonly Values[] = [file === undefined ? {} : readConfigFile(file), variables, flags];
  return Object.fromEntries(
    kinds.map(([name, { combine, fallback }]) => {
      const given = layers.map((layer) => layer[name]).filter((value) => value !== undefined);
      return [name, given.length === 0 ? fallback : combine(given)];
    }),
  ) as Options;
}
