import type { Wire } from '../service/wire.js';
import { isObject } from './shape.js';

/** Matches the names that are replaced in any text: ids of 32 digits or five groups, and pseudonyms of secrets. */
const NAME_PATTERN = /\*\*\*\d+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}/g;
const WHOLE_NAME_PATTERN = new RegExp(`^(?:${NAME_PATTERN.source})$`);
/** Matches the names of fields whose values are ids, regardless of the ids' format. */
const ID_FIELD = /(?:^|[_-])(?:id|ids|uuid|ref)$|(?:Id|Ref|Uuid)$/;

/**
 * Maps the ids, tokens and passwords in a recording to those in the test cloud. In this file, all of these are called
 * names.
 */
export class NameMapping {
  readonly #names = new Map<string, string>();

  /** Maps a recorded name to a name in the test cloud, unless the recorded name already has a mapping. */
  add(recorded: string, here: string): void {
    if (!this.#names.has(recorded)) this.#names.set(recorded, here);
  }

  has(recorded: string): boolean {
    return this.#names.has(recorded);
  }

  /** Replaces all recorded names in text. */
  replaceInText(text: string): string {
    return this.#names.get(text) ?? text.replaceAll(NAME_PATTERN, (name) => this.#names.get(name) ?? name);
  }

  /** Replaces all recorded names in a path and query string. */
  replaceInUrl(url: string): string {
    return url.replaceAll(/[^/?&=,:]+/g, (part) => {
      const decodedPart = decodeText(part);
      const here = this.replaceInText(decodedPart);
      return here === decodedPart ? part : encodeURIComponent(here);
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
  learn(recorded: unknown, here: unknown, field = ''): void {
    if (typeof recorded === 'string' && typeof here === 'string') {
      if (recorded !== here && (WHOLE_NAME_PATTERN.test(recorded) || ID_FIELD.test(field))) this.add(recorded, here);
    } else if (Array.isArray(recorded) && Array.isArray(here)) {
      for (const [one, other] of this.#pairs(recorded, here)) this.learn(one, other, field);
    } else if (isObject(recorded) && isObject(here)) {
      for (const [name, value] of Object.entries(recorded)) this.learn(value, here[name], name);
    }
  }

  /**
   * Pairs the elements of two lists: first elements with known ids, then those with the same name, then the rest in
   * order. Surplus recorded elements are paired with the first element of the test cloud's list.
   */
  #pairs(recorded: readonly unknown[], here: readonly unknown[]): readonly (readonly [unknown, unknown])[] {
    const remaining = new Set(here);
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
      (one, other) => typeof one.id === 'string' && this.#names.get(one.id) === other.id,
    );
    const withoutSameName = pairMatching(
      withoutKnownId,
      (one, other) => typeof one.name === 'string' && one.name === other.name,
    );
    const remainingInOrder = [...remaining];
    for (const [index, one] of withoutSameName.entries()) {
      const other = remainingInOrder[index] ?? here[0];
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
