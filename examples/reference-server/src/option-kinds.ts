import { z } from 'zod';
import { StartError } from './start-error.js';
import { findClosestName, suggestionFor } from './suggestion.js';
import { expectationOf, type Issue } from './value-expectation.js';

/** Defines how an option is parsed from the command line and the environment, and validated in a configuration file. */
export interface OptionKind<T> {
  readonly help: string;
  /** The placeholder for the value in the help text; undefined for a flag without a value. */
  readonly placeholder: string | undefined;
  /** The default value. */
  readonly fallback: T;
  /** Whether the option is repeatable on the command line, and a comma-separated list in the environment. */
  readonly repeat: boolean;
  /** The schema of the option in a configuration file; undefined if configuration files must not contain the option. */
  readonly schema: z.ZodType | undefined;
  /** Parses the given texts. @throws StartError with the invalid value and the allowed values */
  read(label: string, texts: readonly string[]): T;
  /** Merges values from several sources, given in ascending order of precedence, into the effective value. */
  combine(given: readonly T[]): T;
}

export type ValueOf<Kind> = Kind extends OptionKind<infer T> ? T : never;

const last = <T>(given: readonly T[]): T => given.at(-1) as T;
const singleValue = { repeat: false, combine: last } as const;

/** Creates a string option, such as a path, an address or an id. */
export function text(placeholder: string, help: string): OptionKind<string | undefined>;
export function text(placeholder: string, help: string, fallback: string): OptionKind<string>;
export function text(placeholder: string, help: string, fallback?: string): OptionKind<string | undefined> {
  return {
    ...singleValue,
    help,
    placeholder,
    fallback,
    schema: z.string().min(1),
    read: (_label, texts) => last(texts),
  };
}

/** Creates an integer option with inclusive bounds. */
export function integer<T extends number | undefined>(
  help: string,
  bounds: { readonly min: number; readonly max: number; readonly fallback: T },
): OptionKind<T | number> {
  const { min, max, fallback } = bounds;
  return {
    ...singleValue,
    help,
    placeholder: 'N',
    fallback,
    schema: z.int().min(min).max(max),
    read(label, texts) {
      const given = last(texts);
      const number = Number(given);
      if (/^-?\d+$/.test(given) && number >= min && number <= max) return number;
      throw new StartError(`${label} must be an integer from ${min} to ${max}; it is "${given}"`);
    },
  };
}

/** Creates an option that accepts one of several words. */
export function choice<const Word extends string>(
  placeholder: string,
  words: readonly Word[],
  fallback: NoInfer<Word>,
  help: string,
): OptionKind<Word> {
  return {
    ...singleValue,
    help,
    placeholder,
    fallback,
    schema: z.enum(words as unknown as [Word, ...Word[]]),
    read(label, texts) {
      const match = words.find((word) => word === last(texts));
      if (match !== undefined) return match;
      const given = last(texts);
      const closest = findClosestName(given, words);
      const hint = closest === undefined ? '' : `. Did you mean "${closest}"?`;
      throw new StartError(`${label} must be one of ${words.join(', ')}; it is "${given}"${hint}`);
    },
  };
}

/** Creates a boolean option that configuration files must not contain. */
export function commandLineFlag(help: string): OptionKind<boolean> {
  return {
    ...singleValue,
    help,
    placeholder: undefined,
    fallback: false,
    schema: undefined,
    read: (_label, texts) => last(texts) !== 'false',
  };
}

/** Creates a boolean option that configuration files can contain. */
export function flag(help: string): OptionKind<boolean> {
  return { ...commandLineFlag(help), schema: z.boolean() };
}

/** Creates a string option that configuration files must not contain. */
export function commandLineOnlyText(placeholder: string, help: string): OptionKind<string | undefined> {
  return { ...text(placeholder, help), schema: undefined };
}

/** Creates a repeatable option whose value is a list of strings. */
export function list(placeholder: string, help: string): OptionKind<readonly string[]> {
  return {
    ...singleValue,
    help,
    placeholder,
    fallback: [],
    repeat: true,
    schema: z.array(z.string().min(1)),
    read: (_label, texts) => texts,
  };
}

export type Pairs = Readonly<Record<string, unknown>>;

/**
 * Creates a repeatable option with named values, such as `--limit maxConnections=5`, or an object in a configuration
 * file. `rest` defines the names and values that are allowed in addition to `names`.
 */
export function pairs(
  placeholder: string,
  names: Readonly<Record<string, z.ZodType>>,
  help: string,
  rest?: { readonly names: RegExp; readonly schema: z.ZodType },
): OptionKind<Pairs> {
  const isKnown = (name: string) => Object.hasOwn(names, name) || rest?.names.test(name);
  const schema = rest
    ? z
        .object(names)
        .partial()
        .catchall(rest.schema)
        .superRefine((value, context) => {
          const unknownNames = Object.keys(value).filter((name) => !isKnown(name));
          if (unknownNames.length > 0)
            context.addIssue({ code: 'unrecognized_keys', keys: unknownNames, input: value });
        })
    : z.strictObject(names).partial();

  function read(label: string, given: string): readonly [string, unknown] {
    const separator = given.indexOf('=');
    if (separator < 1) throw new StartError(`${label} must have the form ${placeholder}; it is "${given}"`);
    const [name, value] = [given.slice(0, separator), given.slice(separator + 1)];
    const expectedSchema = Object.hasOwn(names, name) ? names[name] : rest?.names.test(name) ? rest.schema : undefined;
    if (!expectedSchema) {
      const knownNames = Object.keys(names);
      const fallbackText =
        knownNames.length > 0 ? `Known names: ${knownNames.join(', ')}.` : 'Names are lower_case_words.';
      throw new StartError(`${label}: unknown name "${name}". ${suggestionFor(name, knownNames, fallbackText)}`);
    }
    const [match] = possibleValues(value).flatMap((candidate) => {
      const { success, data } = expectedSchema.safeParse(candidate);
      return success ? [{ data }] : [];
    });
    if (match) return [name, match.data];
    const [issue] = expectedSchema.safeParse(possibleValues(value)[0]).error?.issues ?? [];
    throw new StartError(`${label}: "${name}" ${expectationOf(issue as Issue, value)}`);
  }

  return {
    help,
    placeholder,
    fallback: {},
    repeat: true,
    combine: (given) => Object.assign({}, ...given),
    schema,
    read: (label, texts) => Object.fromEntries(texts.map((given) => read(label, given))),
  };
}

/** Returns the values that a string can represent: a number, a boolean or null, if possible, and then the string. */
function possibleValues(value: string): readonly unknown[] {
  const number = /^-?\d+(\.\d+)?$/.test(value) ? [Number(value)] : [];
  const flag = value === 'true' || value === 'false' ? [value === 'true'] : [];
  const nullValue = value === 'null' ? [null] : [];
  return [...number, ...flag, ...nullValue, value];
}
