import { type Operation, operationKey } from '@apistrata/microversion/router';
import { commonFields, commonParameters } from './common-fields.js';
import type { Resource } from './resource.js';
import { resources } from './resources.js';

/** Returns the entry for the longest matching end of a field's name. Items and values without a name have no entry. */
function lookUp(table: Resource['fields'], part: string): string | undefined {
  if (!table || part.endsWith('[]') || part.endsWith('.*')) return undefined;
  let rest = part.replaceAll('[]', '');
  for (;;) {
    if (Object.hasOwn(table, rest)) return table[rest];
    const dot = rest.indexOf('.');
    // A filter on a field is not the field: only full names of query parameters match.
    if (dot < 0 || rest.startsWith('query.')) return undefined;
    rest = rest.slice(dot + 1);
  }
}

/** Documentation of operations, by their keys. Fields are looked up only when documents are generated. */
const docsByKey = new Map(
  resources.flatMap((resource) => {
    const describePart = (part: string) => lookUp(resource.fields, part) ?? lookUp(commonFields, part);
    const parameters = { ...commonParameters, ...resource.parameters };
    return Object.entries(resource.operations).map(([key, [name, description, when]]) => {
      const docs = {
        name,
        description,
        tag: resource.tag,
        describePart,
        parameters,
        when: { ...resource.when, ...when },
      };
      return [key, docs] as const;
    });
  }),
);

/** Adds the documentation of its resource to an operation. Properties of the operation itself take precedence. */
export function withDocs(operation: Operation): Operation {
  return { ...docsByKey.get(operationKey(operation)), ...operation };
}
