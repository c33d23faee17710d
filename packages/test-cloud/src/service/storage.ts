import type { Call } from './call.js';
import type { Doc } from './documents.js';
import type { Wire } from './wire.js';

type Awaitable<T> = T | Promise<T>;

/** The store of the records of a resource, in their wire format; errors are thrown. */
export interface Storage {
  /** Returns the records that the caller may see, oldest first unless the service has another order. */
  readonly list: (call: Call) => Awaitable<readonly Doc[]>;
  /** Returns undefined, or throws a 404, for a record that the caller may not see. */
  readonly get: (call: Call, id: string) => Awaitable<Doc | undefined>;
  readonly create: (call: Call, doc: Wire) => Awaitable<Doc>;
  readonly update: (call: Call, before: Doc, change: Wire) => Awaitable<Doc>;
  readonly remove: (call: Call, doc: Doc) => Awaitable<unknown>;
}
