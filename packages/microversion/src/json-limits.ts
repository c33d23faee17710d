import { RequestError } from './errors.js';

/** Limits for the structure of a JSON body, in addition to its length in bytes. */
export interface JsonLimits {
  /** Maximum nesting depth of objects and lists. Default 64. */
  readonly depth: number;
  /** Maximum total number of object members and list items. Default 20,000. */
  readonly values: number;
}

/** The default limits. Typical bodies are far below them: about ten levels deep, with a few hundred values. */
export const defaultJsonLimits: JsonLimits = { depth: 64, values: 20_000 };

function tooDeepError({ depth }: JsonLimits): RequestError {
  return new RequestError('BODY_TOO_COMPLEX', `The request body is nested too deeply: the limit is ${depth} levels`);
}

function tooManyValuesError({ values }: JsonLimits): RequestError {
  return new RequestError('BODY_TOO_COMPLEX', `The request body contains too many values: the limit is ${values}`);
}

const [QUOTE, BACKSLASH, COMMA] = [34, 92, 44];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [91, 93, 123, 125];

/**
 * Rejects JSON text that is nested too deeply or has too many values for the recursive code that processes it later.
 * Counts brackets and commas instead of parsing, because parsing a malicious text would already be too expensive. For
 * invalid JSON, the result is unspecified.
 *
 * @throws RequestError `BODY_TOO_COMPLEX` (400)
 */
export function checkJsonText(text: string, limits: JsonLimits = defaultJsonLimits): void {
  let depth = 0;
  let values = 0;
  for (let position = 0; position < text.length; position++) {
    const characterCode = text.charCodeAt(position);
    if (characterCode === QUOTE) {
      for (let unit = 0; position < text.length; ) {
        unit = text.charCodeAt(++position);
        if (unit === QUOTE) break;
        if (unit === BACKSLASH) position++;
      }
    } else if (characterCode === OPEN_LIST || characterCode === OPEN_OBJECT) {
      if (++depth > limits.depth) throw tooDeepError(limits);
      if (++values > limits.values) throw tooManyValuesError(limits);
    } else if (characterCode === COMMA) {
      if (++values > limits.values) throw tooManyValuesError(limits);
    } else if (characterCode === CLOSE_LIST || characterCode === CLOSE_OBJECT) depth--;
  }
}

/**
 * Applies the limits of {@link checkJsonText} to a parsed body. Works level by level, so that deeply nested values
 * cannot overflow the stack.
 *
 * @throws RequestError `BODY_TOO_COMPLEX` (400)
 */
export function checkJsonValue(body: unknown, limits: JsonLimits = defaultJsonLimits): void {
  let level: object[] = typeof body === 'object' && body !== null ? [body] : [];
  let values = 0;
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > limits.depth) throw tooDeepError(limits);
    const nextLevel: object[] = [];
    for (const container of level) {
      const children = Array.isArray(container) ? container : Object.values(container);
      values += children.length;
      if (values > limits.values) throw tooManyValuesError(limits);
      for (const value of children) if (typeof value === 'object' && value !== null) nextLevel.push(value);
    }
    level = nextLevel;
  }
}
