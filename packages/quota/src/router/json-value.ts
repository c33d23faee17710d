import { QuotaError } from '../errors.js';

/**
 * A parsed JSON value. Integers that a double cannot represent exactly are a `bigint`, other numbers a `number`.
 * Objects are Maps, so that names such as `__proto__` are not special.
 */
export type JsonValue = null | boolean | number | bigint | string | readonly JsonValue[] | JsonObject;
export type JsonObject = ReadonlyMap<string, JsonValue>;

const WHITESPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are invalid in a JSON string.
const STRING = /"(?:[^"\\\u0000-\u001f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"/y;
const LITERALS: readonly (readonly [string, JsonValue])[] = [
  ['null', null],
  ['true', true],
  ['false', false],
  // These literals are not JSON, but OpenStack's key manager accepts them and prints them in its error messages.
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
];

/**
 * Parses JSON text and preserves large integers, which `JSON.parse` may round. If a name occurs several times in an
 * object, its last value applies. The function is recursive, so limit the depth with `checkJsonText` first.
 *
 * @throws SyntaxError for malformed JSON, a byte order mark, and text after the value
 */
export function parseJson(text: string): JsonValue {
  let position = 0;

  const value = readValue();
  skipWhitespace();
  if (position < text.length) failParsing();
  return value;

  function readValue(): JsonValue {
    skipWhitespace();
    const firstCharacter = text[position];
    if (firstCharacter === '{') return readObject();
    if (firstCharacter === '[') return readList();
    if (firstCharacter === '"') return readString();
    for (const [literal, literalValue] of LITERALS) {
      if (!text.startsWith(literal, position)) continue;
      position += literal.length;
      return literalValue;
    }
    return readNumber();
  }

  function readObject(): JsonObject {
    const object = new Map<string, JsonValue>();
    position++;
    if (acceptCharacter('}')) return object;
    do {
      skipWhitespace();
      const name = readString();
      if (!acceptCharacter(':')) failParsing();
      // Deleted first, so that a repeated name moves to the position of its last occurrence.
      object.delete(name);
      object.set(name, readValue());
    } while (acceptCharacter(','));
    if (!acceptCharacter('}')) failParsing();
    return object;
  }

  function readList(): readonly JsonValue[] {
    const list: JsonValue[] = [];
    position++;
    if (acceptCharacter(']')) return list;
    do list.push(readValue());
    while (acceptCharacter(','));
    if (!acceptCharacter(']')) failParsing();
    return list;
  }

  function readString(): string {
    return JSON.parse(match(STRING)[0]) as string;
  }

  function readNumber(): number | bigint {
    const [digits, fraction, exponent] = match(NUMBER);
    const number = Number(digits);
    const isExact = fraction !== undefined || exponent !== undefined || Number.isSafeInteger(number);
    return isExact ? number : BigInt(digits);
  }

  function acceptCharacter(character: string): boolean {
    skipWhitespace();
    if (text[position] !== character) return false;
    position++;
    return true;
  }

  function skipWhitespace(): void {
    match(WHITESPACE);
  }

  function match(pattern: RegExp): RegExpExecArray {
    pattern.lastIndex = position;
    const matchResult = pattern.exec(text) ?? failParsing();
    position += matchResult[0].length;
    return matchResult;
  }

  function failParsing(): never {
    throw new SyntaxError(`Invalid JSON at position ${position}`);
  }
}

/** The error for a number that an earlier parser may have rounded. The client receives the error's message. */
export class InexactNumber extends QuotaError {
  constructor(number: number) {
    super('NUMBER_INEXACT', `The number ${BigInt(number)} is too large to be represented exactly.`);
  }
}

/**
 * Converts a value that `JSON.parse` returned.
 *
 * @throws InexactNumber for integers that may be rounded; SyntaxError for values that JSON cannot represent
 */
export function toJsonValue(value: unknown): JsonValue {
  if (value === null || typeof value === 'boolean' || typeof value === 'string' || typeof value === 'bigint')
    return value;
  if (typeof value === 'number') {
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) throw new InexactNumber(value);
    return value;
  }
  if (Array.isArray(value)) return value.map(toJsonValue);
  if (typeof value !== 'object') throw new SyntaxError(`JSON cannot represent a ${typeof value}`);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return new Map(members.map(([name, member]) => [name, toJsonValue(member)]));
}

/**
 * Formats a value as JSON in the style of the project-quota API: on one line, with a space after commas and colons, and
 * with `\u` escapes for non-ASCII characters.
 */
export function formatJson(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return `[${value.map(formatJson).join(', ')}]`;
  if (value === null || typeof value !== 'object') return formatScalar(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${formatScalar(name)}: ${formatJson(member)}`).join(', ')}}`;
}

function formatScalar(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
