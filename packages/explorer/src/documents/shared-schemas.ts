import type { OpenApiDocument } from './openapi-document.js';
import { MAX_EXPANDED_DEPTH } from './schema-variants.js';

/** The tag of shared schemas, which have separate pages because operation pages do not expand them. */
export const SHARED_SCHEMA_TAG = 'Schemas';

/** A shared schema, and whether requests and responses use it. */
export interface SharedSchema {
  readonly name: string;
  /** Whether requests use the schema. */
  readonly sent: boolean;
  /** Whether responses use the schema. */
  readonly received: boolean;
}

function reachableSchemas(document: OpenApiDocument, from: Iterable<string>): ReadonlySet<string> {
  const names = new Set(from);
  // The loop includes names that are added to the set during the loop.
  for (const name of names) for (const innerName of document.schemaNamesOf(name)) names.add(innerName);
  return names;
}

/** Returns the schemas that are nested too deeply below `roots` to be expanded, and the schemas that they contain. */
function unexpandedSchemas(document: OpenApiDocument, roots: ReadonlySet<string>): ReadonlySet<string> {
  let level: ReadonlySet<string> = roots;
  for (let depth = 0; depth < MAX_EXPANDED_DEPTH; depth += 1)
    level = new Set([...level].flatMap((name) => document.schemaNamesOf(name)));
  return reachableSchemas(document, level);
}

/** Returns the shared schemas that are nested too deeply to be expanded on operation pages, sorted by name. */
export function sharedSchemas(documents: readonly OpenApiDocument[]): readonly SharedSchema[] {
  const [sent, received] = [new Set<string>(), new Set<string>()];
  for (const document of documents) {
    const [requests, responses] = [new Set<string>(), new Set<string>()];
    for (const { item, operation } of document.operations()) {
      for (const name of document.schemaNamesIn([item.parameters, operation.parameters, operation.requestBody]))
        requests.add(name);
      for (const name of document.schemaNamesIn([operation.responses])) responses.add(name);
    }
    for (const name of unexpandedSchemas(document, requests)) sent.add(name);
    for (const name of unexpandedSchemas(document, responses)) received.add(name);
  }
  const names = [...new Set([...sent, ...received])].sort();
  return names.map((name) => ({ name, sent: sent.has(name), received: received.has(name) }));
}
