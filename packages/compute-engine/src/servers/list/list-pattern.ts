import { RE2JS } from 're2js';

/** Whether a text contains something that fits. */
export type Matches = (text: string) => boolean;

/** The longest pattern, and the most instructions of a compiled one, that are worth running over many servers. */
const MOST_CHARACTERS = 1024;
const MOST_INSTRUCTIONS = 3000;

/** A pattern without any sign of its own, perhaps tied to the start or the end of the text. */
const PLAIN = /^(\^?)([A-Za-z0-9_@:/ -]+)(\$?)$/;

/** A pattern that is a plain text, for databases to look for. */
export interface PlainPattern {
  readonly text: string;
  readonly atStart: boolean;
  readonly atEnd: boolean;
}

/** Takes a pattern apart when it is a plain text; undefined otherwise. */
export function plainPattern(pattern: string): PlainPattern | undefined {
  const [, start, text, end] = PLAIN.exec(pattern) ?? [];
  return text === undefined ? undefined : { text, atStart: start === '^', atEnd: end === '$' };
}

/**
 * Compiles a pattern that somebody else wrote, for an engine whose time is linear in the text: no pattern makes it hang.
 * Undefined for texts that are no pattern it knows (look-arounds and back references are none), and for monsters.
 *
 * @example
 * ```ts
 * import { compilePattern } from '@apistrata/compute-engine/api';
 *
 * const isWeb = compilePattern('^web-[0-9]+$');
 * ```
 */
export function compilePattern(pattern: string): Matches | undefined {
  if (pattern === '' || pattern.length > MOST_CHARACTERS) return undefined;
  const plain = plainPattern(pattern);
  if (plain && !plain.atEnd) {
    return plain.atStart ? (text) => text.startsWith(plain.text) : (text) => text.includes(plain.text);
  }
  try {
    const compiled = RE2JS.compile(pattern);
    return compiled.programSize() > MOST_INSTRUCTIONS ? undefined : (text) => compiled.matcher(text).find();
  } catch {
    return undefined;
  }
}

const PUNCTUATION = /^[!-/:-@[-`{-~]/;
/** Classes of characters and places between them, by the letter behind the backslash. */
const CLASSES = /^[dDwWsSbBAz]/;
const OPERATORS = /^[()[\]{}|*+?]/;
const QUANTIFIER = /^(?:[*+?]|\{\d+(?:,\d*)?\})\??/;

/** What stands at the start of a pattern: one literal character, any character, or something else that ends soon. */
function firstOf(pattern: string): { readonly length: number; readonly stands: string | '.' | '' } | undefined {
  const [first, ...others] = pattern.slice(0, 4);
  const next = others[0] ?? '';
  if (first === '\\' && PUNCTUATION.test(next)) return { length: 2, stands: `\\${next}` };
  if (first === '\\') return CLASSES.test(next) ? { length: 2, stands: '' } : undefined;
  if (first === '^' || first === '$') return { length: 1, stands: '' };
  if (first === undefined || OPERATORS.test(first)) return undefined;
  return { length: first.length, stands: first === '.' ? '.' : `\\${first}` };
}

/**
 * A text for SQL's `like ... escape '\'` that fits everything in which the pattern is found, and perhaps more: what a
 * database can go by before the pattern itself is asked. Undefined when nothing can be said.
 * @param encode how a character is written where the text is looked for; default as it is
 */
export function likeOf(pattern: string, encode?: (character: string) => string): string | undefined {
  const parts = ['%'];
  const any = () => parts.at(-1) !== '%' && parts.push('%');
  for (let rest = pattern; rest !== ''; ) {
    const first = firstOf(rest);
    if (!first) return undefined;
    const [quantifier = ''] = QUANTIFIER.exec(rest.slice(first.length)) ?? [];
    rest = rest.slice(first.length + quantifier.length);
    const there = quantifier === '' || quantifier.startsWith('+');
    const character = first.stands.slice(1);
    // A character may be written as several.
    if (there && first.stands === '.' && !encode) parts.push('_');
    else if (there && character) parts.push((encode?.(character) ?? character).replaceAll(/[\\%_]/g, '\\$&'));
    else any();
    if (quantifier !== '') any();
  }
  any();
  return parts.every((part) => part === '%' || part === '_') || pattern.includes('\0') ? undefined : parts.join('');
}
