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
