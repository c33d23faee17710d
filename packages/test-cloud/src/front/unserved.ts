import { urlPath } from '../url-path.js';

/** A call that no service of the cloud has an answer to. */
export interface UnservedCall {
  readonly service: string;
  readonly method: string;
  /** Path and query, as asked first. */
  readonly url: string;
  /** How often it was asked. */
  count: number;
}

const ID = /(?<=\/)([0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})(?=\/|$)/g;

/** The unhandled requests of clients, each kind once. */
export class Unserved {
  readonly #calls = new Map<string, UnservedCall>();

  note(service: string, method: string, url: string): void {
    const key = `${method} ${urlPath(url).replaceAll(ID, '{id}')}`;
    const known = this.#calls.get(key);
    if (known) known.count++;
    else this.#calls.set(key, { service, method, url, count: 1 });
  }

  list(): readonly UnservedCall[] {
    return [...this.#calls.values()].map((call) => ({ ...call }));
  }

  clear(): void {
    this.#calls.clear();
  }
}
