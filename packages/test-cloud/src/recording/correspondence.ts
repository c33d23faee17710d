/** What is one and the same thing's name wherever it stands: ids of 32 digits or five groups, and names of secrets. */
const NAME_ANYWHERE = /\*\*\*\d+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}/g;
const IS_NAME = new RegExp(`^(?:${NAME_ANYWHERE.source})$`);
/** Fields whose text is an id, whatever it looks like. */
const ID_FIELD = /(?:^|[_-])(?:id|ids|uuid|ref)$|(?:Id|Ref|Uuid)$/;

type Json = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Which name in a recording is which one here: ids, tokens, passwords. */
export class Correspondence {
  readonly #names = new Map<string, string>();

  /** Two names for the same thing; the first time counts. */
  same(recorded: string, here: string): void {
    if (!this.#names.has(recorded)) this.#names.set(recorded, here);
  }

  has(recorded: string): boolean {
    return this.#names.has(recorded);
  }

  /** Text of the recording with the names of here. */
  inText(text: string): string {
    return this.#names.get(text) ?? text.replaceAll(NAME_ANYWHERE, (name) => this.#names.get(name) ?? name);
  }

  /** Path and query with the names of here. */
  inUrl(url: string): string {
    return url.replaceAll(/[^/?&=,:]+/g, (part) => {
      const plain = decoded(part);
      const here = this.inText(plain);
      return here === plain ? part : encodeURIComponent(here);
    });
  }

  inJson(value: unknown): unknown {
    if (typeof value === 'string') return this.inText(value);
    if (Array.isArray(value)) return value.map((item) => this.inJson(item));
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [this.inText(name), this.inJson(item)]));
  }

  /** Learns names from two answers to the same request. */
  learn(recorded: unknown, here: unknown, field = ''): void {
    if (typeof recorded === 'string' && typeof here === 'string') {
      if (recorded !== here && (IS_NAME.test(recorded) || ID_FIELD.test(field))) this.same(recorded, here);
    } else if (Array.isArray(recorded) && Array.isArray(here)) {
      for (const [one, other] of this.#pairs(recorded, here)) this.learn(one, other, field);
    } else if (isObject(recorded) && isObject(here)) {
      for (const [name, value] of Object.entries(recorded)) this.learn(value, here[name], name);
    }
  }

  /**
   * Which element of one list is which of another: those that are known, then those of the same name, then in order. What
   * is left over in the recording has the first one here stand in for it.
   */
  #pairs(recorded: readonly unknown[], here: readonly unknown[]): readonly (readonly [unknown, unknown])[] {
    const left = new Set(here);
    const pairs: [unknown, unknown][] = [];
    const take = (items: readonly unknown[], isSame: (one: Json, other: Json) => boolean) =>
      items.filter((one) => {
        const other = [...left].find((candidate) => isObject(one) && isObject(candidate) && isSame(one, candidate));
        if (other === undefined) return true;
        left.delete(other);
        pairs.push([one, other]);
        return false;
      });
    const unknown = take(recorded, (one, other) => typeof one.id === 'string' && this.#names.get(one.id) === other.id);
    const unnamed = take(unknown, (one, other) => typeof one.name === 'string' && one.name === other.name);
    const inOrder = [...left];
    for (const [index, one] of unnamed.entries()) {
      const other = inOrder[index] ?? here[0];
      if (other !== undefined) pairs.push([one, other]);
    }
    return pairs;
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
