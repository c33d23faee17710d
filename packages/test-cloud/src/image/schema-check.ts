import { badRequest, forbidden } from '../service/service-error.js';
import { isObject, type Wire } from '../service/wire.js';

/** A JSON schema with the keywords that the image service's schemas use. */
export interface Schema {
  readonly name?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly maxLength?: number;
  readonly minLength?: number;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly minItems?: number;
  readonly uniqueItems?: boolean;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly allOf?: readonly Schema[];
  /** A reference such as `#/definitions/property`. */
  readonly $ref?: string;
  readonly definitions?: Readonly<Record<string, Schema>>;
  readonly [keyword: string]: unknown;
}

/** Formats a value as in Glance's error messages, in Python notation: single quotes, True, False, None. */
function formatValue(value: unknown): string {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'string') return `'${value}'`;
  if (Array.isArray(value)) return `[${value.map(formatValue).join(', ')}]`;
  if (typeof value !== 'object') return String(value);
  const entries = Object.entries(value).map(([key, nestedViolation]) => `'${key}': ${formatValue(nestedViolation)}`);
  return `{${entries.join(', ')}}`;
}

function hasType(value: unknown, type: string): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isObject(value);
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
}

/** Returns the first message that a check of the items returns; undefined if no check fails. */
function firstMessage<T>(items: Iterable<T>, message: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const foundMessage = message(item);
    if (foundMessage !== undefined) return foundMessage;
  }
  return undefined;
}

function findObjectViolation(schema: Schema, value: Wire, root: Schema): string | undefined {
  const { properties = {}, required = [], additionalProperties: additional = true } = schema;
  const missingProperty = required.find((key) => !Object.hasOwn(value, key));
  if (missingProperty !== undefined) return `'${missingProperty}' is a required property`;
  const unknownProperties = Object.keys(value).filter((key) => !Object.hasOwn(properties, key));
  if (additional === false && unknownProperties.length > 0)
    return `Additional properties are not allowed (${unknownProperties.map(formatValue).join(', ')} ${unknownProperties.length > 1 ? 'were' : 'was'} unexpected)`;
  return firstMessage(Object.entries(value), ([key, nestedViolation]) => {
    const propertySchema = Object.hasOwn(properties, key) ? properties[key] : additional;
    return isObject(propertySchema) ? findViolation(propertySchema as Schema, nestedViolation, root) : undefined;
  });
}

function findArrayViolation({ minItems = 0, uniqueItems, items }: Schema, value: readonly unknown[], root: Schema) {
  if (value.length < minItems)
    return `${formatValue(value)} ${minItems === 1 ? 'should be non-empty' : 'is too short'}`;
  if (uniqueItems && new Set(value.map((item) => JSON.stringify(item))).size < value.length)
    return `${formatValue(value)} has non-unique elements`;
  return items && firstMessage(value, (item) => findViolation(items, item, root));
}

/** Returns Glance's error message for a value that does not match a schema; undefined if the value matches. */
function findViolation(schema: Schema, value: unknown, root: Schema): string | undefined {
  const { $ref, type, enum: values, maxLength = Infinity, minLength = 0, pattern, minimum = -Infinity } = schema;
  if ($ref !== undefined) return findViolation(root.definitions?.[$ref.split('/').at(-1) ?? ''] ?? {}, value, root);
  const describeProblem = (problem: string) => `${formatValue(value)} ${problem}`;
  if (type !== undefined && ![type].flat().some((one) => hasType(value, one)))
    return describeProblem(`is not of type ${[type].flat().map(formatValue).join(', ')}`);
  if (values && !values.includes(value)) return describeProblem(`is not one of ${formatValue(values)}`);
  if (typeof value === 'string') {
    const { length } = [...value];
    if (length > maxLength || length < minLength)
      return describeProblem(length > maxLength ? 'is too long' : 'is too short');
    if (pattern !== undefined && !new RegExp(pattern).test(value))
      return describeProblem(`does not match '${pattern}'`);
  }
  if (typeof value === 'number' && value < minimum) return describeProblem(`is less than the minimum of ${minimum}`);
  const nestedViolation = Array.isArray(value)
    ? findArrayViolation(schema, value, root)
    : isObject(value)
      ? findObjectViolation(schema, value, root)
      : undefined;
  return nestedViolation ?? firstMessage(schema.allOf ?? [], (part) => findViolation(part, value, root));
}

/** @throws ServiceError 400 if a value does not match the document's schema */
export function checkSchema(schema: Schema, value: unknown): void {
  const message = findViolation(schema, value, schema);
  if (message !== undefined) throw badRequest(`Provided object does not match schema '${schema.name}': ${message}`);
}

/** Returns the body if it is an object. Throws a 400 error for other bodies. */
export function requireObject(body: unknown): Wire {
  if (isObject(body)) return body;
  throw badRequest(body === undefined ? 'Body expected in request.' : 'Unexpected body type. Expected list/dict.');
}

/**
 * Validates a body against a schema, and returns the body.
 * @param readOnly the names of the fields that clients cannot set
 * @throws ServiceError 400, or 403 for a read-only field
 */
export function validateBody(schema: Schema, body: unknown, readOnly: readonly string[] = []): Wire {
  const object = requireObject(body);
  const key = readOnly.find((name) => Object.hasOwn(object, name));
  if (key !== undefined) throw forbidden(`Attribute '${key}' is read-only.`);
  checkSchema(schema, object);
  return object;
}
