import type { Json, Part } from '@apistrata/microversion-router';
import type { OpenApiDocument } from './openapi-document.js';
import { plainText } from './plain-text.js';
import { type NestedSchema, type SchemaVariant, schemaVariants } from './schema-variants.js';

/** The keyword that excludes a field from requests or from responses. */
const EXCLUSION_KEYWORDS = { request: 'readOnly', response: 'writeOnly' } as const;

function mergeRules(variants: readonly SchemaVariant[], description: string | undefined): Json {
  const distinctRules = [...new Map(variants.map(({ own }) => [JSON.stringify(own), own])).values()];
  const descriptionEntry = description === undefined ? {} : { description };
  return distinctRules.length === 1
    ? { ...distinctRules[0], ...descriptionEntry }
    : { anyOf: distinctRules, ...descriptionEntry };
}

/** Returns the `anyOf` alternatives of a schema's rules, or the rules themselves. */
function alternativesOf(rules: Json): readonly Json[] {
  return (rules.anyOf as readonly Json[] | undefined) ?? [rules];
}

/** Joins the rules that several alternatives of an object define for the same field. */
function joinSchemas(one: Json, other: Json): Json {
  const rulesWithoutDescription = [...alternativesOf(one), ...alternativesOf(other)].map(
    ({ description, ...rules }) => rules,
  );
  const distinctRules = [...new Map(rulesWithoutDescription.map((rules) => [JSON.stringify(rules), rules])).values()];
  const description = one.description ?? other.description;
  const descriptionEntry = description === undefined ? {} : { description };
  return distinctRules.length === 1
    ? { ...distinctRules[0], ...descriptionEntry }
    : { anyOf: distinctRules, ...descriptionEntry };
}

/** Collects the parts of requests and responses from an OpenAPI document's schemas. */
export class SchemaParts {
  readonly parts = new Map<string, Part>();
  readonly #document: OpenApiDocument;

  constructor(document: OpenApiDocument) {
    this.#document = document;
  }

  /** Adds a part that has no schema, such as a status. */
  add(name: string, rules: Json): void {
    this.parts.set(name, { name, rules, required: false, closed: false });
  }

  /** Adds a part for a schema, and parts for all fields that the schema contains. */
  collect(name: string, nested: NestedSchema, direction: keyof typeof EXCLUSION_KEYWORDS, required: boolean): void {
    const variants = schemaVariants(this.#document, nested);
    const existing = this.parts.get(name);
    const rules = mergeRules(variants, plainText(nested.schema.description));
    const references = new Set(variants.flatMap(({ reference }) => reference ?? []));
    if (existing?.reference !== undefined) references.add(existing.reference);
    const reference = [...references].join(' or ');
    this.parts.set(name, {
      name,
      rules: existing ? joinSchemas(existing.rules, rules) : rules,
      required: required && (existing?.required ?? true),
      closed: variants.some(({ closed }) => closed),
      ...(reference && { reference }),
    });
    for (const { properties, required: needed, items, additional } of variants) {
      for (const [key, property] of properties) {
        if (property.schema[EXCLUSION_KEYWORDS[direction]] === true) continue;
        this.collect(`${name}.${key}`, property, direction, variants.length === 1 && needed.has(key));
      }
      if (items) this.collect(`${name}[]`, items, direction, false);
      if (additional) this.collect(`${name}.*`, additional, direction, false);
    }
  }
}
