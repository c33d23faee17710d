import type { Hide } from '../front/secrets.js';

/** Shorter ones are words that may stand anywhere for themselves. */
const SHORTEST_IN_TEXT = 6;
/** In an address only what can be nothing but a token is replaced: a password may be part of a path by chance. */
const SHORTEST_IN_URL = 16;

/** Names for secrets, `***1`, `***2`, ...: a recording tells which requests used the same one, and never which. */
export class Pseudonyms {
  readonly #names = new Map<string, string>();

  readonly hide: Hide = (secret) => {
    const name = this.#names.get(secret) ?? `***${this.#names.size + 1}`;
    this.#names.set(secret, name);
    return name;
  };

  /** The text without any secret that was met so far, wherever it stands. */
  inText(text: string): string {
    return this.#without(text, SHORTEST_IN_TEXT);
  }

  inUrl(url: string): string {
    return this.#without(url, SHORTEST_IN_URL);
  }

  /** All text in JSON, except the names of fields. */
  inJson(value: unknown): unknown {
    if (typeof value === 'string') return this.inText(value);
    if (Array.isArray(value)) return value.map((item) => this.inJson(item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, this.inJson(item)]));
  }

  #without(text: string, shortest: number): string {
    let shown = text;
    for (const [secret, name] of this.#names)
      if (secret.length >= shortest)
        shown = shown.replaceAll(secret, name).replaceAll(encodeURIComponent(secret), name);
    return shown;
  }
}
