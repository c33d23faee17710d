import { urlPath } from '../url-path.js';

/** A kind of request that no service of the cloud handles. */
export interface UnhandledRequest {
  readonly service: string;
  readonly method: string;
  /** The path and query string of the first request of this kind. */
  readonly url: string;
  /** The number of requests of this kind. */
  count: number;
}

const ID = /(?<=\/)([0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})(?=\/|$)/g;

/** The requests that no service handles, grouped by kind. */
export class UnhandledRequests {
  readonly #calls = new Map<string, UnhandledRequest>();

  note(service: string, method: string, url: string): void {
    const key = `${method} ${urlPath(url).replaceAll(ID, '{id}')}`;
    const knownRequest = this.#calls.get(key);
    if (knownRequest) knownRequest.count++;
    else this.#calls.set(key, { service, method, url, count: 1 });
  }

  list(): readonly UnhandledRequest[] {
    return [...this.#calls.values()].map((call) => ({ ...call }));
  }

  clear(): void {
    this.#calls.clear();
  }
}
