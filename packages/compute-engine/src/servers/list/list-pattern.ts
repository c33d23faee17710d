import { RE2JS } from 're2js';

/** Returns whether a string contains a match. */
export type Matches = (text: string) => boolean;

/** Maximum lengths of a pattern and of its compiled program, which is applied to many servers. */
const MAX_CHARACTERS = 1024;
const MAX_INSTRUCTIONS = 3000;

/** Matches a pattern without special characters, optionally anchored to the start or the end. */
const PLAIN = /^(\^?)([A-Za-z0-9_@:/ -]+)(\$?)$/;

/** A pattern that is a literal string, which databases can search. */
export interface PlainPattern {
  readonly text: string;
  readonly atStart: boolean;
  readonly atEnd: boolean;
}

/** Parses a pattern that is a literal string; returns undefined otherwise. */
export function plainPattern(pattern: string): PlainPattern | undefined {
  const [, start, text, end] = PLAIN.exec(pattern) ?? [];
  return text === undefined ? undefined : { text, atStart: start === '^', atEnd: end === '$' };
}

/**
 * Compiles an untrusted pattern for a matcher that takes linear time for every pattern. Returns undefined for unsupported
 * patterns (such as lookaround and backreferences), and for excessively large patterns.
 *
 * @example
 * ```ts
 * import { compilePattern } from '@apistrata/compute-engine/api';
 *
 * const isWeb = compilePattern('^web-[0-9]+$');
 * ```
 */
export function compilePattern(pattern: string): Matches | undefined {
  if (pattern === '' || pattern.length > MAX_CHARACTERS) return undefined;
  const plain = plainPattern(pattern);
  if (plain && !plain.atEnd) {
    return plain.atStart ? (text) => text.startsWith(plain.text) : (text) => text.includes(plain.text);
  }
  try {
    const compiled = RE2JS.compile(pattern);
    return compiled.programSize() > MAX_INSTRUCTIONS ? undefined : (text) => compiled.matcher(text).find();
  } catch {
    return undefined;
  }
}

const PUNCTUATION = /^[!-/:-@[-`{-~]/;
/** Matches character classes and assertions, by the letter after the backslash. */
const CLASSES = /^[dDwWsSbBAz]/;
const OPERATORS = /^[()[\]{}|*+?]/;
const QUANTIFIER = /^(?:[*+?]|\{\d+(?:,\d*)?\})\??/;

/** Parses the first element of a pattern: one literal character, any character, or another short element. */
function parseFirst(pattern: string): { readonly length: number; readonly matches: string | '.' | '' } | undefined {
  const [first, ...others] = pattern.slice(0, 4);
  const next = others[0] ?? '';
  if (first === '\\' && PUNCTUATION.test(next)) return { length: 2, matches: `\\${next}` };
  if (first === '\\') return CLASSES.test(next) ? { length: 2, matches: '' } : undefined;
  if (first === '^' || first === '$') return { length: 1, matches: '' };
  if (first === undefined || OPERATORS.test(first)) return undefined;
  return { length: first.length, matches: first === '.' ? '.' : `\\${first}` };
}

/**
 * Returns a pattern for SQL's `like ... escape '\'` that matches every text in which the regular expression is found, and
 * possibly others, so that a database can preselect rows. Returns undefined if nothing can be derived.
 * @param encode returns a character as it is written in the searched text; default: unchanged
 */
export function likeOf(pattern: string, encode?: (character: string) => string): string | undefined {
  const parts = ['%'];
  const addWildcard = () => parts.at(-1) !== '%' && parts.push('%');
  for (let rest = pattern; rest !== ''; ) {
    const first = parseFirst(rest);
    if (!first) return undefined;
    const [quantifier = ''] = QUANTIFIER.exec(rest.slice(first.length)) ?? [];
    rest = rest.slice(first.length + quantifier.length);
    const required = quantifier === '' || quantifier.startsWith('+');
    const character = first.matches.slice(1);
    // An encoded character may consist of several characters.
    if (required && first.matches === '.' && !encode) parts.push('_');
    else if (required && character) parts.push((encode?.(character) ?? character).replaceAll(/[\\%_]/g, '\\$&'));
    else addWildcard();
    if (quantifier !== '') addWildcard();
  }
  addWildcard();
  return parts.every((part) => part === '%' || part === '_') || pattern.includes('\0') ? undefined : parts.join('');
}
