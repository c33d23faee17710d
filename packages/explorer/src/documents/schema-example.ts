import type { OpenApiDocument } from './openapi-document.js';
import { type NestedSchema, schemaVariants } from './schema-variants.js';

const EXAMPLES_BY_TYPE: Readonly<Record<string, unknown>> = { string: 'string', number: 0, integer: 0, boolean: false };
/** Example strings by format. */
const EXAMPLES_BY_FORMAT: Readonly<Record<string, string>> = {
  date: '2026-01-31',
  'date-time': '2026-01-31T12:00:00Z',
  uuid: '9d4ba7c1-0c7e-4f4e-9b5e-2f6c1f3e7a10',
  email: 'ada@example.com',
  uri: 'https://example.com/',
};

/** Returns a schema's example or default, or else generates a value with everything that the schema requires. */
export function schemaExample(document: OpenApiDocument, nested: NestedSchema): unknown {
  const { schema } = nested;
  if (schema.example !== undefined) return schema.example;
  if (Array.isArray(schema.examples) && schema.examples.length > 0) return schema.examples[0];
  const [variant] = schemaVariants(document, nested);
  if (!variant) return null;
  const { own, properties, required, items } = variant;
  if (own.default !== undefined) return own.default;
  if (own.const !== undefined) return own.const;
  if (Array.isArray(own.enum)) return own.enum[0];
  const type = [own.type].flat()[0];
  if (properties.size > 0 || type === 'object')
    return Object.fromEntries(
      [...properties].flatMap(([name, property]) =>
        required.has(name) && property.schema.readOnly !== true ? [[name, schemaExample(document, property)]] : [],
      ),
    );
  if (type === 'array') return items && Number(own.minItems ?? 0) > 0 ? [schemaExample(document, items)] : [];
  if (type === 'string') return EXAMPLES_BY_FORMAT[String(own.format)] ?? EXAMPLES_BY_TYPE.string;
  return EXAMPLES_BY_TYPE[String(type)] ?? null;
}
