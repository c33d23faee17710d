/** Matches strings that JSON does not escape: no control characters, quotes, backslashes or lone surrogates. */
const PLAIN = /^[ !\u0023-\u005b\u005d-\ud7ff\ue000-\uffff]*$/;

/**
 * Like `JSON.stringify`, which returns undefined for values that it omits, but faster: most values in responses are short
 * and plain.
 */
export function jsonText(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
      return PLAIN.test(value) ? `"${value}"` : JSON.stringify(value);
    case 'number':
      return Number.isFinite(value) ? String(value) : 'null';
    case 'boolean':
      return value ? 'true' : 'false';
    default:
      return value === null ? 'null' : JSON.stringify(value);
  }
}
