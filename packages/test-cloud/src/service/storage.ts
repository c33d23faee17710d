import type { Call } from './call.js';
import type { Doc } from './documents.js';
import type { Wire } from './wire.js';

type Awaitable<T> = T | Promise<T>;

/** Stores a resource type's records in wire format. */
export interface Storage {
  /** Returns the records that the caller may see, oldest first unless the service lists them in another order. */
  readonly list: (call: Call) => Awaitable<readonly Doc[]>;
  /** Returns a record. Returns undefined, or throws a 404 error, if the caller may not see it. */
  readonly get: (call: Call, id: string) => Awaitable<Doc | undefined>;
  readonly create: (call: Call, doc: Wire) => Awaitable<Doc>;
  readonly update: (call: Call, before: Doc, change: Wire) => Awaitable<Doc>;
  readonly remove: (call: Call, doc: Doc) => Awaitable<unknown>;
}
