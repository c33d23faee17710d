import type { Schema } from './schema-check.js';

/** What a metadata definition schema describes: namespaces, or one kind of their contents. */
export type MetadefKind = 'namespaces' | 'objects' | 'properties' | 'tags' | 'resource_types';

const string = { type: 'string' } as const;
const boolean = { type: 'boolean' } as const;
const array = { type: 'array' } as const;
const strings = { type: 'array', items: string } as const;
const readOnly = { ...string, readOnly: true } as const;
const time = { ...readOnly, format: 'date-time' } as const;
const stringUpTo = (maxLength: number) => ({ ...string, maxLength });
const reference = (name: string) => ({ $ref: `#/definitions/${name}` });
const listSchema = (properties: Readonly<Record<string, Schema>>): Schema => ({
  type: 'array',
  items: { type: 'object', properties },
});

const times = { created_at: time, updated_at: time };
const links = { schema: readOnly, self: readOnly };
const typeName = { ...string, enum: ['array', 'boolean', 'integer', 'number', 'object', 'string', null] };
const count = reference('positiveInteger');
const countDefaultZero = reference('positiveIntegerDefault0');

const numbers = {
  positiveInteger: { type: 'integer', minimum: 0 },
  positiveIntegerDefault0: { allOf: [count, { default: 0 }] },
};
const stringArray = { ...strings, uniqueItems: true };

/** The schemas of a property definition's attributes. */
const propertySchema: Readonly<Record<string, Schema>> = {
  name: stringUpTo(80),
  title: string,
  description: string,
  operators: strings,
  type: typeName,
  required: reference('stringArray'),
  minimum: { type: 'number' },
  maximum: { type: 'number' },
  maxLength: count,
  minLength: countDefaultZero,
  pattern: { ...string, format: 'regex' },
  enum: array,
  readonly: boolean,
  default: {},
  items: { type: 'object', properties: { type: typeName, enum: array } },
  maxItems: count,
  minItems: countDefaultZero,
  uniqueItems: { ...boolean, default: false },
  additionalItems: boolean,
};

const required = ['type', 'title'];
const definitions = {
  ...numbers,
  stringArray,
  property: {
    type: 'object',
    additionalProperties: { type: 'object', required: ['title', 'type'], properties: propertySchema },
  },
};

const schemaDocument = (name: string, properties: Readonly<Record<string, Schema>>, more: Schema): Schema => ({
  name,
  properties,
  additionalProperties: false,
  ...more,
});

/** The schema of a property definition in a map, in which the key is the name of the property. */
export const propertyInMap = schemaDocument('property', propertySchema, {
  required,
  definitions: { ...numbers, stringArray: { ...stringArray, minItems: 1 } },
});

export const METADEF_SCHEMAS: Readonly<Record<MetadefKind, Schema>> = {
  namespaces: schemaDocument(
    'namespace',
    {
      namespace: stringUpTo(80),
      display_name: stringUpTo(80),
      description: stringUpTo(500),
      visibility: { ...string, enum: ['public', 'private'] },
      protected: boolean,
      owner: stringUpTo(255),
      ...times,
      ...links,
      resource_type_associations: listSchema({ name: string, prefix: string, properties_target: string }),
      properties: reference('property'),
      objects: listSchema({
        name: string,
        description: string,
        required: reference('stringArray'),
        properties: reference('property'),
      }),
      tags: listSchema({ name: string }),
    },
    { required: ['namespace'], definitions },
  ),
  objects: schemaDocument(
    'object',
    {
      name: stringUpTo(80),
      description: string,
      required: reference('stringArray'),
      properties: reference('property'),
      ...links,
      ...times,
    },
    { required: ['name'], definitions },
  ),
  properties: { ...propertyInMap, required: [...required, 'name'] },
  tags: schemaDocument('tag', { name: stringUpTo(80), ...times }, { required: ['name'] }),
  resource_types: schemaDocument(
    'resource_type_association',
    { name: stringUpTo(80), prefix: stringUpTo(80), properties_target: stringUpTo(80), ...times },
    { required: ['name'] },
  ),
};

/** The schema of a request that replaces all tags of a namespace. */
export const TAG_LIST_SCHEMA: Schema = {
  name: 'tags',
  properties: {
    tags: {
      type: 'array',
      items: { type: 'object', properties: { name: string }, required: ['name'], additionalProperties: false },
    },
  },
  additionalProperties: false,
};
