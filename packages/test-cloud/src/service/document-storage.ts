import type { Call } from './call.js';
import type { Doc } from './documents.js';
import type { Storage } from './storage.js';
import type { ResourceType } from './style.js';

/**
 * Returns the storage that keeps records in the cloud's document store. Nested records are found by the ids in the
 * path.
 */
export function documentStorage(resource: ResourceType): Storage {
  const { spec } = resource;
  const table = (call: Call) => call.cloud.documents.table<Doc>(resource.table);
  const hasPathParent = (call: Call, doc: Doc) => (spec.within ?? []).every((name) => doc[name] === call.param(name));
  const isVisible = (call: Call, doc: Doc) => hasPathParent(call, doc) && resource.isVisible(call, doc);
  return {
    list: (call) => {
      spec.seed?.(call, table(call));
      return [...table(call).values()].filter((doc) => isVisible(call, doc));
    },
    get: (call, id) => {
      spec.seed?.(call, table(call));
      const doc = table(call).get(id);
      return doc && isVisible(call, doc) ? doc : undefined;
    },
    create: (call, fields) => {
      spec.seed?.(call, table(call));
      const parentIds = Object.fromEntries((spec.within ?? []).map((name) => [name, call.param(name)]));
      const doc = { ...fields, ...parentIds, id: String(fields.id ?? resource.style.newId()) };
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
