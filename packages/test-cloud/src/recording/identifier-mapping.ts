import type { Wire } from '../service/wire.js';
import { isObject } from './shape.js';

/** Matches the identifiers that are replaced in any text: ids of 32 digits or five groups, and pseudonyms of secrets. */
const IDENTIFIER_PATTERN = /\*\*\*\d+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}/g;
const WHOLE_IDENTIFIER_PATTERN = new RegExp(`^(?:${IDENTIFIER_PATTERN.source})$`);
/** Matches the names of fields whose values are ids, regardless of the ids' format. */
const ID_FIELD = /(?:^|[_-])(?:id|ids|uuid|ref)$|(?:Id|Ref|Uuid)$/;

/**
 * Maps the identifiers in a recording, which are ids, tokens and passwords, to those in the test cloud.
 */
export class IdentifierMapping {
  readonly #identifiers = new Map<string, string>();

  /** Maps a recorded identifier to one in the test cloud, unless the recorded identifier already has a mapping. */
  add(recorded: string, actual: string): void {
    if (!this.#identifiers.has(recorded)) this.#identifiers.set(recorded, actual);
  }

  has(recorded: string): boolean {
    return this.#identifiers.has(recorded);
  }

  /** Replaces all recorded identifiers in text. */
  replaceInText(text: string): string {
    return this.#identifiers.get(text) ?? text.replaceAll(IDENTIFIER_PATTERN, (id) => this.#identifiers.get(id) ?? id);
  }

  /** Replaces all recorded identifiers in a path and query string. */
  replaceInUrl(url: string): string {
    return url.replaceAll(/[^/?&=,:]+/g, (part) => {
      const decodedPart = decodeText(part);
      const actual = this.replaceInText(decodedPart);
      return actual === decodedPart ? part : encodeURIComponent(actual);
    });
  }

  replaceInJson(value: unknown): unknown {
    if (typeof value === 'string') return this.replaceInText(value);
    if (Array.isArray(value)) return value.map((item) => this.replaceInJson(item));
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [this.replaceInText(name), this.replaceInJson(item)]),
    );
  }

  /** Adds mappings by comparing the recorded response with the test cloud's response to the same request. */
  learn(recorded: unknown, actual: unknown, field = ''): void {
    if (typeof recorded === 'string' && typeof actual === 'string') {
      if (recorded !== actual && (WHOLE_IDENTIFIER_PATTERN.test(recorded) || ID_FIELD.test(field)))
        this.add(recorded, actual);
    } else if (Array.isArray(recorded) && Array.isArray(actual)) {
      for (const [one, other] of this.#pairs(recorded, actual)) this.learn(one, other, field);
    } else if (isObject(recorded) && isObject(actual)) {
      for (const [name, value] of Object.entries(recorded)) this.learn(value, actual[name], name);
    }
  }

  /**
   * Pairs the elements of two lists: first elements with known ids, then those with the same name, then the rest in
   * order. Surplus recorded elements are paired with the first element of the test cloud's list.
   */
  #pairs(recorded: readonly unknown[], actual: readonly unknown[]): readonly (readonly [unknown, unknown])[] {
    const remaining = new Set(actual);
    const pairs: [unknown, unknown][] = [];
    const pairMatching = (items: readonly unknown[], isSame: (one: Wire, other: Wire) => boolean) =>
      items.filter((one) => {
        const other = [...remaining].find(
          (candidate) => isObject(one) && isObject(candidate) && isSame(one, candidate),
        );
        if (other === undefined) return true;
        remaining.delete(other);
        pairs.push([one, other]);
        return false;
      });
    const withoutKnownId = pairMatching(
      recorded,
      (one, other) => typeof one.id === 'string' && this.#identifiers.get(one.id) === other.id,
    );
    const withoutSameName = pairMatching(
      withoutKnownId,
      (one, other) => typeof one.name === 'string' && one.name === other.name,
    );
    const remainingInOrder = [...remaining];
    for (const [index, one] of withoutSameName.entries()) {
      const other = remainingInOrder[index] ?? actual[0];
      if (other !== undefined) pairs.push([one, other]);
    }
    return pairs;
  }
}

function decodeText(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
