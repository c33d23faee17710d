import { type Operation, operationKey } from '@apistrata/microversion/router';
import { commonFields, commonParameters } from './common-fields.js';
import type { Resource } from './resource.js';
import { resources } from './resources.js';

/** The longest end of a field's name that a table knows. What has no name of its own, an item or a value, has no words. */
function lookUp(table: Resource['fields'], part: string): string | undefined {
  if (!table || part.endsWith('[]') || part.endsWith('.*')) return undefined;
  let rest = part.replaceAll('[]', '');
  for (;;) {
    if (Object.hasOwn(table, rest)) return table[rest];
    const dot = rest.indexOf('.');
    // A filter by something is not that thing.
    if (dot < 0 || rest.startsWith('query.')) return undefined;
    rest = rest.slice(dot + 1);
  }
}

/** What is said of an operation, by its key. Everything but names and short texts is looked up when documents are made. */
const wordsByKey = new Map(
  resources.flatMap((resource) => {
    const words = (part: string) => lookUp(resource.fields, part) ?? lookUp(commonFields, part);
    const parameters = { ...commonParameters, ...resource.parameters };
    return Object.entries(resource.operations).map(([key, [name, description, when]]) => {
      const said = { name, description, tag: resource.tag, words, parameters, when: { ...resource.when, ...when } };
      return [key, said] as const;
    });
  }),
);

/** The operation with the words of its resource; what the definition says itself goes first. */
export function withDocs(operation: Operation): Operation {
  return { ...wordsByKey.get(operationKey(operation)), ...operation };
}
