import { z } from 'zod';
import { StartError } from './start-error.js';

/** One kind of option: how a text of the command line or the environment is read, and what a configuration file may say. */
export interface OptionKind<T> {
  readonly help: string;
  /** What stands for the value in the help; undefined for a switch. */
  readonly placeholder: string | undefined;
  /** The value when nobody says anything. */
  readonly fallback: T;
  /** May be given several times on the command line, and as a list with commas in the environment. */
  readonly repeat: boolean;
  /** The value in a configuration file; undefined for what only a command line can ask for. */
  readonly schema: z.ZodType | undefined;
  /** @throws StartError that says which value the option takes */
  read(label: string, texts: readonly string[]): T;
  /** What is in force when several say something, the last of them the strongest. */
  combine(given: readonly T[]): T;
}

export type ValueOf<Kind> = Kind extends OptionKind<infer T> ? T : never;

const last = <T>(given: readonly T[]): T => given.at(-1)!;
const once = { repeat: false, combine: last } as const;

/** A text: a path, an address, an id. */
export function text(placeholder: string, help: string): OptionKind<string | undefined>;
export function text(placeholder: string, help: string, fallback: string): OptionKind<string>;
export function text(placeholder: string, help: string, fallback?: string): OptionKind<string | undefined> {
  return {
    ...once,
    help,
    placeholder,
    fallback,
    schema: z.string().min(1),
    read: (_label, texts) => last(texts),
  };
}

/** A whole number between bounds. */
export function wholeNumber<T extends number | undefined>(
  help: string,
  bounds: { readonly least: number; readonly most: number; readonly fallback: T },
): OptionKind<T | number> {
  const { least, most, fallback } = bounds;
  return {
    ...once,
    help,
    placeholder: 'N',
    fallback,
    schema: z.int().min(least).max(most),
    read(label, texts) {
      const given = last(texts);
      const number = Number(given);
      if (/^-?\d+$/.test(given) && number >= least && number <= most) return number;
      throw new StartError(`${label} is '${given}': it takes a whole number from ${least} to ${most}`);
    },
  };
}

/** One of several words. */
export function choice<const Word extends string>(
  placeholder: string,
  words: readonly Word[],
  fallback: NoInfer<Word>,
  help: string,
): OptionKind<Word> {
  return {
    ...once,
    help,
    placeholder,
    fallback,
    schema: z.enum(words as unknown as [Word, ...Word[]]),
    read(label, texts) {
      const found = words.find((word) => word === last(texts));
      if (found === undefined) throw new StartError(`${label} is '${last(texts)}': it takes ${words.join(', ')}`);
      return found;
    },
  };
}

/** Something that the program does instead of serving. */
export function command(help: string): OptionKind<boolean> {
  return {
    ...once,
    help,
    placeholder: undefined,
    fallback: false,
    schema: undefined,
    read: (_label, texts) => last(texts) !== 'false',
  };
}

/** Something that is so or is not, in a configuration file too. */
export function flag(help: string): OptionKind<boolean> {
  return { ...command(help), schema: z.boolean() };
}

/** A text that makes no sense in a configuration file: where that file is. */
export function pointer(placeholder: string, help: string): OptionKind<string | undefined> {
  return { ...text(placeholder, help), schema: undefined };
}

/** Several texts. */
export function list(placeholder: string, help: string): OptionKind<readonly string[]> {
  return {
    ...once,
    help,
    placeholder,
    fallback: [],
    repeat: true,
    schema: z.array(z.string().min(1)),
    read: (_label, texts) => texts,
  };
}

export type Pairs = Readonly<Record<string, unknown>>;

/** Named values: `--limit maxConnections=5`, or an object in a file. Each name has a schema; `rest` is that of others. */
export function pairs(
  placeholder: string,
  names: Readonly<Record<string, z.ZodType>>,
  help: string,
  rest?: { readonly names: RegExp; readonly schema: z.ZodType },
): OptionKind<Pairs> {
  const unknownName = (value: object) =>
    Object.keys(value).find((name) => !Object.hasOwn(names, name) && !rest?.names.test(name));
  const schema = rest
    ? z
        .object(names)
        .partial()
        .catchall(rest.schema)
        .refine((value) => unknownName(value) === undefined, {
          error: ({ input }) => `there is no such name: ${unknownName(input as object)}`,
        })
    : z.strictObject(names).partial();

  function read(label: string, given: string): readonly [string, unknown] {
    const mark = given.indexOf('=');
    if (mark < 1) throw new StartError(`${label} is '${given}': it takes ${placeholder}`);
    const [name, value] = [given.slice(0, mark), given.slice(mark + 1)];
    const expected = Object.hasOwn(names, name) ? names[name] : rest?.names.test(name) ? rest.schema : undefined;
    if (!expected)
      throw new StartError(`${label} ${name}: there is no such name; there are ${Object.keys(names).join(', ')}`);
    const [found] = readings(value).flatMap((reading) => {
      const { success, data } = expected.safeParse(reading);
      return success ? [{ data }] : [];
    });
    if (found) return [name, found.data];
    const { message } = expected.safeParse(readings(value)[0]).error!.issues[0]!;
    throw new StartError(`${label} ${given}: ${message}`);
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

/** What a text may mean, the narrowest reading first. */
function readings(value: string): readonly unknown[] {
  const number = /^-?\d+(\.\d+)?$/.test(value) ? [Number(value)] : [];
  const flag = value === 'true' || value === 'false' ? [value === 'true'] : [];
  const nothing = value === 'null' ? [null] : [];
  return [...number, ...flag, ...nothing, value];
}
