import type { Call } from './call.js';
import type { Doc } from './documents.js';
import type { Wire } from './listing.js';
import type { Resource } from './resource.js';

type Awaitable<T> = T | Promise<T>;

/** Where the records of a resource are. All of it is in the words of the wire; errors are thrown. */
export interface Storage {
  /** Those that the caller may know of, oldest first unless the service has another order. */
  readonly list: (call: Call) => Awaitable<readonly Doc[]>;
  /** Undefined, or a 404 thrown, for what the caller may not know of. */
  readonly get: (call: Call, id: string) => Awaitable<Doc | undefined>;
  readonly create: (call: Call, doc: Wire) => Awaitable<Doc>;
  readonly update: (call: Call, before: Doc, change: Wire) => Awaitable<Doc>;
  readonly remove: (call: Call, doc: Doc) => Awaitable<unknown>;
}

/** Records in the documents of the cloud; those below another resource are found by the ids in the path. */
export function documentStorage(resource: Resource): Storage {
  const { spec } = resource;
  const table = (call: Call) => call.cloud.documents.table<Doc>(resource.table);
  const below = (call: Call, doc: Doc) => (spec.within ?? []).every((name) => doc[name] === call.param(name));
  const sees = (call: Call, doc: Doc) => below(call, doc) && resource.sees(call, doc);
  return {
    list: (call) => {
      spec.seed?.(call, table(call));
      return [...table(call).values()].filter((doc) => sees(call, doc));
    },
    get: (call, id) => {
      spec.seed?.(call, table(call));
      const doc = table(call).get(id);
      return doc && sees(call, doc) ? doc : undefined;
    },
    create: (call, given) => {
      spec.seed?.(call, table(call));
      const above = Object.fromEntries((spec.within ?? []).map((name) => [name, call.param(name)]));
      const doc = { ...given, ...above, id: String(given.id ?? resource.style.newId()) };
      table(call).set(doc.id, doc);
      return doc;
    },
    update: (call, before, change) => {
      const doc = { ...before, ...change, id: before.id };
      table(call).set(doc.id, doc);
      return doc;
    },
    remove: (call, { id }) => table(call).delete(id),
  };
}
