import { RE2JS } from 're2js';

/** Returns whether a string contains a match of a compiled pattern. */
export type Matches = (text: string) => boolean;

/**
 * Maximum lengths of a pattern and of its compiled program. They are limited because patterns are applied to many
 * servers.
 */
const MAX_PATTERN_LENGTH = 1024;
const MAX_PROGRAM_SIZE = 3000;

/** Matches a pattern without special characters, optionally anchored to the start or the end. */
const PLAIN_PATTERN = /^(\^?)([A-Za-z0-9_@:/ -]+)(\$?)$/;

/** A pattern that is a literal string, for which databases can search. */
export interface PlainPattern {
  readonly text: string;
  readonly atStart: boolean;
  readonly atEnd: boolean;
}

/** Parses a pattern that is a literal string. Returns undefined for any other pattern. */
export function parsePlainPattern(pattern: string): PlainPattern | undefined {
  const [, start, text, end] = PLAIN_PATTERN.exec(pattern) ?? [];
  return text === undefined ? undefined : { text, atStart: start === '^', atEnd: end === '$' };
}

/**
 * Compiles an untrusted regular expression to a matcher that takes linear time for every pattern. Returns undefined for
 * unsupported patterns (such as lookaround and backreferences), and for excessively large patterns.
 *
 * @example
 * ```ts
 * import { compilePattern } from '@apistrata/compute-engine/api';
 *
 * const isWeb = compilePattern('^web-[0-9]+$');
 * ```
 */
export function compilePattern(pattern: string): Matches | undefined {
  if (pattern === '' || pattern.length > MAX_PATTERN_LENGTH) return undefined;
  const plain = parsePlainPattern(pattern);
  if (plain && !plain.atEnd) {
    return plain.atStart ? (text) => text.startsWith(plain.text) : (text) => text.includes(plain.text);
  }
  try {
    const compiled = RE2JS.compile(pattern);
    return compiled.programSize() > MAX_PROGRAM_SIZE ? undefined : (text) => compiled.matcher(text).find();
  } catch {
    return undefined;
  }
}

const PUNCTUATION = /^[!-/:-@[-`{-~]/;
/** Matches character classes and assertions, by the letter after the backslash. */
const CLASS_OR_ASSERTION = /^[dDwWsSbBAz]/;
const OPERATOR = /^[()[\]{}|*+?]/;
const QUANTIFIER = /^(?:[*+?]|\{\d+(?:,\d*)?\})\??/;

/**
 * Parses the first element of a pattern. `matches` is an escaped literal character, `.` for any character, or empty for
 * a character class or an assertion. Returns undefined for all other elements.
 */
function parseFirstElement(
  pattern: string,
): { readonly length: number; readonly matches: string | '.' | '' } | undefined {
  const [first, ...others] = pattern.slice(0, 4);
  const next = others[0] ?? '';
  if (first === '\\' && PUNCTUATION.test(next)) return { length: 2, matches: `\\${next}` };
  if (first === '\\') return CLASS_OR_ASSERTION.test(next) ? { length: 2, matches: '' } : undefined;
  if (first === '^' || first === '$') return { length: 1, matches: '' };
  if (first === undefined || OPERATOR.test(first)) return undefined;
  return { length: first.length, matches: first === '.' ? '.' : `\\${first}` };
}

/**
 * Converts a regular expression to a pattern for SQL's `like ... escape '\'`, with which a database can preselect rows.
 * The SQL pattern matches every string that contains a match of the regular expression, and possibly other strings.
 * Returns undefined if no useful SQL pattern can be derived.
 * @param encode returns the encoding of a character in the searched string; default: the character itself
 */
export function likePatternOf(pattern: string, encode?: (character: string) => string): string | undefined {
  const parts = ['%'];
  const addWildcard = () => parts.at(-1) !== '%' && parts.push('%');
  for (let rest = pattern; rest !== ''; ) {
    const first = parseFirstElement(rest);
    if (!first) return undefined;
    const [quantifier = ''] = QUANTIFIER.exec(rest.slice(first.length)) ?? [];
    rest = rest.slice(first.length + quantifier.length);
    const required = quantifier === '' || quantifier.startsWith('+');
    const character = first.matches.slice(1);
    // The encoding of a character may consist of several characters, which `_` would not match.
    if (required && first.matches === '.' && !encode) parts.push('_');
    else if (required && character) parts.push((encode?.(character) ?? character).replaceAll(/[\\%_]/g, '\\$&'));
    else addWildcard();
    if (quantifier !== '') addWildcard();
  }
  addWildcard();
  return parts.every((part) => part === '%' || part === '_') || pattern.includes('\0') ? undefined : parts.join('');
}
