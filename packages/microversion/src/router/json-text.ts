/** A text that stands in JSON as it is: without control characters, quotes, backslashes and halves of pairs. */
const PLAIN = /^[ !\u0023-\u005b\u005d-\ud7ff\ue000-\uffff]*$/;

/**
 * What `JSON.stringify` says of a value; undefined for what it leaves out. Most values of answers are short and plain, and
 * asking it for each of them would cost more than it does.
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
