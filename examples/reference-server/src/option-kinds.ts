import { z } from 'zod';
import { StartError } from './start-error.js';
import { closestOf, suggestion } from './suggestion.js';
import { expectationOf, type Issue } from './value-expectation.js';

/** A kind of option: how its values are read from the command line and the environment, and its schema in a configuration file. */
export interface OptionKind<T> {
  readonly help: string;
  /** The placeholder of the value in the help; undefined for a switch. */
  readonly placeholder: string | undefined;
  /** The default. */
  readonly fallback: T;
  /** Whether it is repeatable on the command line, and a comma-separated list in the environment. */
  readonly repeat: boolean;
  /** The schema of its value in a configuration file; undefined for options of the command line only. */
  readonly schema: z.ZodType | undefined;
  /** @throws StartError with the value and the allowed values */
  read(label: string, texts: readonly string[]): T;
  /** Merges values from several sources, given in ascending order of precedence, into the effective value. */
  combine(given: readonly T[]): T;
}

export type ValueOf<Kind> = Kind extends OptionKind<infer T> ? T : never;

const last = <T>(given: readonly T[]): T => given.at(-1) as T;
const single = { repeat: false, combine: last } as const;

/** Creates an option with a string value: a path, an address, an id. */
export function text(placeholder: string, help: string): OptionKind<string | undefined>;
export function text(placeholder: string, help: string, fallback: string): OptionKind<string>;
export function text(placeholder: string, help: string, fallback?: string): OptionKind<string | undefined> {
  return {
    ...single,
    help,
    placeholder,
    fallback,
    schema: z.string().min(1),
    read: (_label, texts) => last(texts),
  };
}

/** Creates an option with an integer value between bounds. */
export function integer<T extends number | undefined>(
  help: string,
  bounds: { readonly min: number; readonly max: number; readonly fallback: T },
): OptionKind<T | number> {
  const { min, max, fallback } = bounds;
  return {
    ...single,
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

/** Creates an option with one of several values. */
export function choice<const Word extends string>(
  placeholder: string,
  words: readonly Word[],
  fallback: NoInfer<Word>,
  help: string,
): OptionKind<Word> {
  return {
    ...single,
    help,
    placeholder,
    fallback,
    schema: z.enum(words as unknown as [Word, ...Word[]]),
    read(label, texts) {
      const found = words.find((word) => word === last(texts));
      if (found !== undefined) return found;
      const given = last(texts);
      const closest = closestOf(given, words);
      const hint = closest === undefined ? '' : `. Did you mean "${closest}"?`;
      throw new StartError(`${label} must be one of ${words.join(', ')}; it is "${given}"${hint}`);
    },
  };
}

/** Creates a boolean option of the command line only. */
export function commandLineFlag(help: string): OptionKind<boolean> {
  return {
    ...single,
    help,
    placeholder: undefined,
    fallback: false,
    schema: undefined,
    read: (_label, texts) => last(texts) !== 'false',
  };
}

/** Creates a boolean option, allowed in a configuration file too. */
export function flag(help: string): OptionKind<boolean> {
  return { ...commandLineFlag(help), schema: z.boolean() };
}

/** Creates an option of the command line and the environment only, with a string value. */
export function commandLineText(placeholder: string, help: string): OptionKind<string | undefined> {
  return { ...text(placeholder, help), schema: undefined };
}

/** Creates an option with a list of strings. */
export function list(placeholder: string, help: string): OptionKind<readonly string[]> {
  return {
    ...single,
    help,
    placeholder,
    fallback: [],
    repeat: true,
    schema: z.array(z.string().min(1)),
    read: (_label, texts) => texts,
  };
}

export type Pairs = Readonly<Record<string, unknown>>;

/** Creates an option with named values: `--limit maxConnections=5`, or an object in a file. `rest` is the schema of other names. */
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
          const unknown = Object.keys(value).filter((name) => !isKnown(name));
          if (unknown.length > 0) context.addIssue({ code: 'unrecognized_keys', keys: unknown, input: value });
        })
    : z.strictObject(names).partial();

  function read(label: string, given: string): readonly [string, unknown] {
    const separator = given.indexOf('=');
    if (separator < 1) throw new StartError(`${label} must have the form ${placeholder}; it is "${given}"`);
    const [name, value] = [given.slice(0, separator), given.slice(separator + 1)];
    const expected = Object.hasOwn(names, name) ? names[name] : rest?.names.test(name) ? rest.schema : undefined;
    if (!expected) {
      const knownNames = Object.keys(names);
      const otherwise =
        knownNames.length > 0 ? `Known names: ${knownNames.join(', ')}.` : 'Names are lower_case_words.';
      throw new StartError(`${label}: unknown name "${name}". ${suggestion(name, knownNames, otherwise)}`);
    }
    const [found] = possibleValues(value).flatMap((candidate) => {
      const { success, data } = expected.safeParse(candidate);
      return success ? [{ data }] : [];
    });
    if (found) return [name, found.data];
    const [issue] = expected.safeParse(possibleValues(value)[0]).error?.issues ?? [];
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

/** Returns the possible values of a string, the narrowest type first. */
function possibleValues(value: string): readonly unknown[] {
  const number = /^-?\d+(\.\d+)?$/.test(value) ? [Number(value)] : [];
  const flag = value === 'true' || value === 'false' ? [value === 'true'] : [];
  const nullValue = value === 'null' ? [null] : [];
  return [...number, ...flag, ...nullValue, value];
}
