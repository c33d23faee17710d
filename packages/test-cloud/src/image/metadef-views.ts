import type { Wire } from '../service/wire.js';
import { type Kind, type Namespace, ROOT } from './metadefs.js';

function propertyView({ created_at: _, updated_at: __, ...property }: Wire): Wire {
  return property;
}

/** Returns the wire format of a definition in the responses to create and change requests. */
export function savedPartView(kind: Kind, { namespace }: Namespace, part: Wire): Wire {
  if (kind === 'objects')
    return { ...part, self: `${ROOT}/${namespace}/objects/${part.name}`, schema: '/v2/schemas/metadefs/object' };
  return kind === 'properties' ? propertyView(part) : part;
}

/** Returns the wire format of a stored definition. Objects always contain `required` and `properties`. */
export function partView(kind: Kind, namespace: Namespace, part: Wire): Wire {
  return savedPartView(kind, namespace, kind === 'objects' ? { required: [], properties: {}, ...part } : part);
}

/** Returns all definitions of a kind in wire format: a map of properties, or a list of tag names or definitions. */
export function listView(kind: Kind, namespace: Namespace): unknown {
  const entries = Object.entries(namespace.parts[kind]);
  if (kind === 'properties') return Object.fromEntries(entries.map(([name, part]) => [name, propertyView(part)]));
  return entries.map(([name, part]) => (kind === 'tags' ? { name } : partView(kind, namespace, part)));
}

/** Returns the wire format of a namespace without its contents. */
export function namespaceView({ parts: _, ...namespace }: Namespace): Wire {
  return { ...namespace, self: `${ROOT}/${namespace.namespace}`, schema: '/v2/schemas/metadefs/namespace' };
}

/** Returns the wire format of a namespace, including its definitions of the given kinds unless they are empty. */
export function namespaceWithContents(namespace: Namespace, kinds: readonly Kind[]): Wire {
  const contents = kinds
    .filter((kind) => Object.keys(namespace.parts[kind]).length > 0)
    .map((kind) => [kind === 'resource_types' ? 'resource_type_associations' : kind, listView(kind, namespace)]);
  return { ...namespaceView(namespace), ...Object.fromEntries(contents) };
}

const addPrefix = (prefix: string, properties: unknown): Wire =>
  Object.fromEntries(Object.entries(properties as Wire).map(([name, property]) => [`${prefix}${name}`, property]));

/** Adds the prefix for a resource type's properties to all property names in a namespace's wire format. */
export function applyPrefix(namespace: Namespace, type: string | undefined, wire: Wire): Wire {
  const { resource_types: types } = namespace.parts;
  const prefix = type !== undefined && Object.hasOwn(types, type) ? types[type]?.prefix : undefined;
  if (typeof prefix !== 'string') return wire;
  const { properties, objects } = wire;
  return {
    ...wire,
    ...(properties !== undefined && { properties: addPrefix(prefix, properties) }),
    ...(objects !== undefined && {
      objects: (objects as readonly Wire[]).map((object) => ({
        ...object,
        properties: addPrefix(prefix, object.properties),
        required: (object.required as readonly string[]).map((name) => `${prefix}${name}`),
      })),
    }),
  };
}
