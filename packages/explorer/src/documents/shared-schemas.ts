import type { OpenApiDocument } from './openapi-document.js';
import { EXPANDED_LEVELS } from './schema-variants.js';

/** Tag for shared schemas that operation pages do not expand. They have separate pages. */
export const SHARED_SCHEMAS = 'Schemas';

/** A shared schema, and its uses in operations. */
export interface SharedSchema {
  readonly name: string;
  /** Whether requests contain it. */
  readonly sent: boolean;
  /** Whether responses contain it. */
  readonly received: boolean;
}

function reachableSchemas(document: OpenApiDocument, from: Iterable<string>): ReadonlySet<string> {
  const names = new Set(from);
  // The set grows while it is iterated.
  for (const name of names) for (const inner of document.schemasOf(name)) names.add(inner);
  return names;
}

/** Returns the schemas of one direction that are nested too deeply to be expanded, and the schemas that they contain. */
function unexpandedSchemas(document: OpenApiDocument, roots: ReadonlySet<string>): ReadonlySet<string> {
  let level: ReadonlySet<string> = roots;
  for (let depth = 0; depth < EXPANDED_LEVELS; depth += 1)
    level = new Set([...level].flatMap((name) => document.schemasOf(name)));
  return reachableSchemas(document, level);
}

/** Returns the shared schemas that are nested too deeply to be expanded on operation pages, sorted by name. */
export function sharedSchemas(documents: readonly OpenApiDocument[]): readonly SharedSchema[] {
  const [sent, received] = [new Set<string>(), new Set<string>()];
  for (const document of documents) {
    const [requests, responses] = [new Set<string>(), new Set<string>()];
    for (const { item, operation } of document.operations()) {
      for (const name of document.schemasIn([item.parameters, operation.parameters, operation.requestBody]))
        requests.add(name);
      for (const name of document.schemasIn([operation.responses])) responses.add(name);
    }
    for (const name of unexpandedSchemas(document, requests)) sent.add(name);
    for (const name of unexpandedSchemas(document, responses)) received.add(name);
  }
  const names = [...new Set([...sent, ...received])].sort();
  return names.map((name) => ({ name, sent: sent.has(name), received: received.has(name) }));
}
