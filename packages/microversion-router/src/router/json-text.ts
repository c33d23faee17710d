/** Matches strings without characters that JSON escapes: control characters, quotes, backslashes and lone surrogates. */
const UNESCAPED_STRING = /^[ !\u0023-\u005b\u005d-\ud7ff\ue000-\uffff]*$/;

/**
 * Returns the same as `JSON.stringify`, including undefined for values that JSON omits, but is faster for short and
 * plain values.
 */
export function jsonText(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
      return UNESCAPED_STRING.test(value) ? `"${value}"` : JSON.stringify(value);
    case 'number':
      return Number.isFinite(value) ? String(value) : 'null';
    case 'boolean':
      return value ? 'true' : 'false';
    default:
      return value === null ? 'null' : JSON.stringify(value);
  }
}
