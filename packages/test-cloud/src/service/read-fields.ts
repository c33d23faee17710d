import type { Call } from './call.js';
import { defaultOf, type Field } from './field.js';
import type { ResourceType } from './style.js';
import { isObject, type Wire } from './wire.js';

/** The verbs that can set a field, by the field's `sets`. */
const VERBS_BY_SETTING: Readonly<Record<Field['sets'], readonly string[]>> = {
  always: ['create', 'change'],
  once: ['create'],
  later: ['change'],
  never: [],
};

/** Validates and converts the fields in a request body. Throws a service-specific error if a field is invalid. */
export function readFields(call: Call, resource: ResourceType, verb: 'create' | 'change', body: unknown): Wire {
  const { style, spec, fields } = resource;
  if (!isObject(body)) throw style.errors.noBody(resource);
  const minor = style.minor?.(call) ?? 0;
  const fieldOf = (key: string): Field | undefined => {
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
    return field && (field.setsSince ?? field.since ?? 0) <= minor ? field : undefined;
  };
  const unknownKeys = Object.keys(body).filter((key) => !fieldOf(key));
  const unknownFields = spec.unknownFields?.(call, verb) ?? style.unknownFields;
  if (unknownKeys.length > 0 && unknownFields === 'reject') throw style.errors.unknown(resource, unknownKeys, verb);
  const parsedFields: [string, unknown][] = [];
  for (const [key, value] of Object.entries(body)) {
    const field = fieldOf(key);
    if (!field) {
      if (unknownFields === 'keep') parsedFields.push([key, value]);
      continue;
    }
    if (!field.schema || !VERBS_BY_SETTING[field.sets].includes(verb)) {
      if (style.readOnlyFields === 'reject' && unknownFields !== 'ignore')
        throw style.errors.readOnly(resource, key, verb);
      continue;
    }
    const parsedValue = field.schema.safeParse(value, style.reasons && { error: style.reasons });
    if (!parsedValue.success)
      throw style.errors.invalid(resource, key, value, parsedValue.error.issues[0]?.message ?? 'is not valid');
    if (parsedValue.data !== undefined) parsedFields.push([key, parsedValue.data]);
  }
  const values = Object.fromEntries(parsedFields);
  if (verb === 'create') {
    const missingField = Object.entries(fields).find(([key, field]) => field.required && !Object.hasOwn(values, key));
    if (missingField) throw style.errors.missing(resource, missingField[0]);
  }
  style.authorizeFields(call, resource, verb, values);
  return values;
}

/** Returns values with the defaults of missing fields. */
export function withDefaults(call: Call, resource: ResourceType, values: Wire): Wire {
  const valuesWithDefaults: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(resource.fields)) {
    const value = Object.hasOwn(values, key) ? values[key] : defaultOf(field, call);
    if (value !== undefined) valuesWithDefaults[key] = value;
  }
  return { ...values, ...valuesWithDefaults };
}
