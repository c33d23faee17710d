import type { JsonValue } from './json-value.js';

/** Formats a value in the notation that error messages of this API use: `None`, `True`, `'text'`, `nan`, `[1]`, `{'a': 1}`. */
export function notationOf(value: JsonValue): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number') return numberNotation(value);
  if (typeof value === 'string') return textNotation(value);
  if (isList(value)) return `[${value.map(notationOf).join(', ')}]`;
  return `{${[...value].map(([name, member]) => `${textNotation(name)}: ${notationOf(member)}`).join(', ')}}`;
}

/** Formats a quoted string in the notation that error messages of this API use. */
export function textNotation(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the ones to escape.
  const escapedText = text.replace(/[\\\u0000-\u001f\u007f-\u00a0\u00ad]/g, escapeOf);
  return `${quote}${escapedText.replaceAll(quote, `\\${quote}`)}${quote}`;
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function escapeOf(character: string): string {
  return ESCAPES[character] ?? `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
}

function numberNotation(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  const isSmall = value !== 0 && Math.abs(value) < 1e-4;
  // In the error messages of this API, exponents have at least two digits.
  return isSmall ? value.toExponential().replace(/e-(\d)$/, 'e-0$1') : String(value);
}

function isList(value: readonly JsonValue[] | object): value is readonly JsonValue[] {
  return Array.isArray(value);
}
