import type { Schema } from './schema-check.js';

/** The schemas of metadata definition namespaces and their contents. */
export type MetadefKind = 'namespaces' | 'objects' | 'properties' | 'tags' | 'resource_types';

const string = { type: 'string' } as const;
const boolean = { type: 'boolean' } as const;
const array = { type: 'array' } as const;
const strings = { type: 'array', items: string } as const;
const readOnly = { ...string, readOnly: true } as const;
const time = { ...readOnly, format: 'date-time' } as const;
const upTo = (maxLength: number) => ({ ...string, maxLength });
const ref = (name: string) => ({ $ref: `#/definitions/${name}` });
const listOf = (properties: Readonly<Record<string, Schema>>): Schema => ({
  type: 'array',
  items: { type: 'object', properties },
});

const times = { created_at: time, updated_at: time };
const links = { schema: readOnly, self: readOnly };
const typeName = { ...string, enum: ['array', 'boolean', 'integer', 'number', 'object', 'string', null] };
const count = ref('positiveInteger');
const countOrZero = ref('positiveIntegerDefault0');

const numbers = {
  positiveInteger: { type: 'integer', minimum: 0 },
  positiveIntegerDefault0: { allOf: [count, { default: 0 }] },
};
const stringArray = { ...strings, uniqueItems: true };

/** The attribute schemas of a property definition. */
const definition: Readonly<Record<string, Schema>> = {
  name: upTo(80),
  title: string,
  description: string,
  operators: strings,
  type: typeName,
  required: ref('stringArray'),
  minimum: { type: 'number' },
  maximum: { type: 'number' },
  maxLength: count,
  minLength: countOrZero,
  pattern: { ...string, format: 'regex' },
  enum: array,
  readonly: boolean,
  default: {},
  items: { type: 'object', properties: { type: typeName, enum: array } },
  maxItems: count,
  minItems: countOrZero,
  uniqueItems: { ...boolean, default: false },
  additionalItems: boolean,
};

const required = ['type', 'title'];
const definitions = {
  ...numbers,
  stringArray,
  property: {
    type: 'object',
    additionalProperties: { type: 'object', required: ['title', 'type'], properties: definition },
  },
};

const documentOf = (name: string, properties: Readonly<Record<string, Schema>>, more: Schema): Schema => ({
  name,
  properties,
  additionalProperties: false,
  ...more,
});

/** The schema of a property definition in a map, in which the key is the name of the property. */
export const propertyInMap = documentOf('property', definition, {
  required,
  definitions: { ...numbers, stringArray: { ...stringArray, minItems: 1 } },
});

export const METADEF_SCHEMAS: Readonly<Record<MetadefKind, Schema>> = {
  namespaces: documentOf(
    'namespace',
    {
      namespace: upTo(80),
      display_name: upTo(80),
      description: upTo(500),
      visibility: { ...string, enum: ['public', 'private'] },
      protected: boolean,
      owner: upTo(255),
      ...times,
      ...links,
      resource_type_associations: listOf({ name: string, prefix: string, properties_target: string }),
      properties: ref('property'),
      objects: listOf({
        name: string,
        description: string,
        required: ref('stringArray'),
        properties: ref('property'),
      }),
      tags: listOf({ name: string }),
    },
    { required: ['namespace'], definitions },
  ),
  objects: documentOf(
    'object',
    {
      name: upTo(80),
      description: string,
      required: ref('stringArray'),
      properties: ref('property'),
      ...links,
      ...times,
    },
    { required: ['name'], definitions },
  ),
  properties: { ...propertyInMap, required: [...required, 'name'] },
  tags: documentOf('tag', { name: upTo(80), ...times }, { required: ['name'] }),
  resource_types: documentOf(
    'resource_type_association',
    { name: upTo(80), prefix: upTo(80), properties_target: upTo(80), ...times },
    { required: ['name'] },
  ),
};

/** The schema of a request that replaces all tags of a namespace. */
export const TAGS: Schema = {
  name: 'tags',
  properties: {
    tags: {
      type: 'array',
      items: { type: 'object', properties: { name: string }, required: ['name'], additionalProperties: false },
    },
  },
  additionalProperties: false,
};
