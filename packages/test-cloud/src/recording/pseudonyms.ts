import type { Redact } from '../gateway/secrets.js';

/** The minimum length of secrets that are replaced in text, where shorter secrets may be ordinary words. */
const MIN_LENGTH_IN_TEXT = 6;
/** The minimum length of secrets that are replaced in URLs, where shorter secrets may be parts of a path by chance. */
const MIN_LENGTH_IN_URL = 16;

/**
 * Replaces secrets with pseudonyms: `***1`, `***2`, ... A recording then shows which requests used the same secret, but
 * not the secret itself.
 */
export class Pseudonyms {
  readonly #names = new Map<string, string>();

  readonly redact: Redact = (secret) => {
    const name = this.#names.get(secret) ?? `***${this.#names.size + 1}`;
    this.#names.set(secret, name);
    return name;
  };

  /** Replaces all known secrets in text. */
  replaceInText(text: string): string {
    return this.#replaceSecrets(text, MIN_LENGTH_IN_TEXT);
  }

  replaceInUrl(url: string): string {
    return this.#replaceSecrets(url, MIN_LENGTH_IN_URL);
  }

  /** Replaces secrets in all strings of a JSON value, except in field names. */
  replaceInJson(value: unknown): unknown {
    if (typeof value === 'string') return this.replaceInText(value);
    if (Array.isArray(value)) return value.map((item) => this.replaceInJson(item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, this.replaceInJson(item)]));
  }

  #replaceSecrets(text: string, minLength: number): string {
    let shown = text;
    for (const [secret, name] of this.#names)
      if (secret.length >= minLength)
        shown = shown.replaceAll(secret, name).replaceAll(encodeURIComponent(secret), name);
    return shown;
  }
}
