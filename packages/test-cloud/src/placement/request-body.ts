import { z } from 'zod';
import type { Call } from '../service/call.js';
import { badRequest } from '../service/service-error.js';

/** The schema of a UUID with or without dashes. */
export const anyUuid = z
  .string()
  .refine((written) => /^[0-9a-f]{32}$/i.test(written.replaceAll('-', '')), "is not a 'uuid'");

/** Formats a UUID in lower case with dashes. */
export const formatUuid = (uuid: string) =>
  uuid
    .replaceAll('-', '')
    .toLowerCase()
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');

const TOO_FEW_PROPERTIES = 'does not have enough properties';

/** Returns a schema that also requires at least one property. */
export const atLeastOne = <S extends z.ZodType<object>>(schema: S): S =>
  schema.refine((object) => Object.keys(object).length > 0, TOO_FEW_PROPERTIES);

type Issue = z.core.$ZodIssue;

const PYTHON_CONSTANTS = new Map<unknown, string>([
  [null, 'None'],
  [true, 'True'],
  [false, 'False'],
]);

/** Formats a value as in Placement's error messages, in Python notation. */
function formatValue(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`;
  if (Array.isArray(value)) return `[${value.map(formatValue).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return PYTHON_CONSTANTS.get(value) ?? String(value);
  return `{${Object.entries(value)
    .map(([key, item]) => `'${key}': ${formatValue(item)}`)
    .join(', ')}}`;
}

const JSON_SCHEMA_TYPES: Readonly<Record<string, string>> = { int: 'integer', record: 'object', array: 'array' };

/** The JSON Schema keywords that the zod schemas express as refinements, by error message. */
const REFINEMENT_KEYWORDS: Readonly<Record<string, string>> = {
  [TOO_FEW_PROPERTIES]: 'minProperties',
  "is not a 'uuid'": 'format',
  'has non-unique elements': 'uniqueItems',
};

/** A position in a body schema. */
interface SchemaPosition {
  /** The path in the JSON schema, in the notation of Placement's messages: `['properties']['total']`. */
  readonly text: string;
  readonly schema: z.ZodType | undefined;
}

function unwrapSchema(schema: z.ZodType | undefined): z.ZodType | undefined {
  if (schema instanceof z.ZodPipe) return unwrapSchema(schema.in as z.ZodType);
  const isWrapped =
    schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault;
  return isWrapped ? unwrapSchema(schema.unwrap() as z.ZodType) : schema;
}

/** Returns the position in a schema that describes the value at a path in the body. */
function positionAt(schema: z.ZodType, path: readonly PropertyKey[]): SchemaPosition {
  let place: SchemaPosition = { text: '', schema: unwrapSchema(schema) };
  for (const key of path) {
    const { text, schema: outer } = place;
    if (outer instanceof z.ZodArray)
      place = { text: `${text}['items']`, schema: unwrapSchema(outer.element as z.ZodType) };
    else if (outer instanceof z.ZodRecord)
      place = {
        text: `${text}['patternProperties']['${patternOf(outer)}']`,
        schema: unwrapSchema(outer.valueType as z.ZodType),
      };
    else {
      const next = outer instanceof z.ZodObject ? (outer.shape[String(key)] as z.ZodType | undefined) : undefined;
      place = { text: `${text}['properties']['${String(key)}']`, schema: unwrapSchema(next) };
    }
  }
  return place;
}

/** Returns the pattern that an object's keys must match. */
const patternOf = ({ keyType }: z.ZodRecord): string => z.toJSONSchema(keyType as z.ZodType).pattern ?? '.*';

/** Returns the error message for unknown properties. */
export function unknownPropertiesMessage(keys: readonly string[]): string {
  const names = [...new Set(keys)].sort().map((key) => `'${key}'`);
  return `Additional properties are not allowed (${names.join(', ')} ${names.length > 1 ? 'were' : 'was'} unexpected)`;
}

/** Returns the depth of the value that an issue concerns. For a missing property, this is the enclosing object. */
const depthOf = ({ code, input, path }: Issue) =>
  path.length - (code === 'invalid_key' || (code === 'invalid_type' && input === undefined) ? 1 : 0);

/** Returns the error message for an issue, and the JSON Schema keyword that the body violates. */
function describeIssue(issue: Issue, { schema }: SchemaPosition): readonly [message: string, keyword: string] {
  const { path, input } = issue;
  const key = String(path.at(-1) ?? '');
  if (issue.code === 'invalid_type' && input === undefined) return [`'${key}' is a required property`, 'required'];
  if (issue.code === 'invalid_type' && schema instanceof z.ZodNumber && schema.isInt)
    return [`${formatValue(input)} is not of type 'integer'`, 'type'];
  if (issue.code === 'invalid_type')
    return [`${formatValue(input)} is not of type '${JSON_SCHEMA_TYPES[issue.expected] ?? issue.expected}'`, 'type'];
  if (issue.code === 'unrecognized_keys') {
    return [unknownPropertiesMessage(issue.keys), 'additionalProperties'];
  }
  if (issue.code === 'invalid_key')
    return [
      `'${key}' does not match any of the regexes: '${schema instanceof z.ZodRecord ? patternOf(schema) : ''}'`,
      'additionalProperties',
    ];
  if (issue.code === 'too_big' && typeof input === 'number')
    return [`${input} is greater than the maximum of ${issue.maximum}`, 'maximum'];
  if (issue.code === 'too_small' && typeof input === 'number')
    return [`${input} is less than the minimum of ${issue.minimum}`, 'minimum'];
  if (issue.code === 'too_big') return [`${formatValue(input)} is too long`, 'maxLength'];
  if (issue.code === 'too_small')
    return [`${formatValue(input)} is too short`, issue.origin === 'array' ? 'minItems' : 'minLength'];
  if (issue.code === 'invalid_format' && issue.format === 'regex')
    return [`${formatValue(input)} does not match '${String(issue.pattern).replace(/^\/(.*)\/$/, '$1')}'`, 'pattern'];
  if (issue.code === 'invalid_format') return [`${formatValue(input)} is not a 'uuid'`, 'format'];
  return [`${formatValue(input)} ${issue.message}`, REFINEMENT_KEYWORDS[issue.message] ?? 'type'];
}

/** The JSON Schema keywords whose errors concern an object rather than one of its properties. */
const OBJECT_KEYWORDS = ['required', 'additionalProperties'];

/** Creates the 400 error for a body that does not match its schema. Both paths default to the root. */
export const invalidBody = (message: string, keyword: string, inSchema = '', inBody = '') =>
  badRequest(
    `JSON does not validate: ${message}\n\nFailed validating '${keyword}' in schema${inSchema}\n\nOn instance${inBody}`,
  );

/**
 * Validates the body of a request with Placement's error messages, and returns it.
 * @throws ServiceError 400 if the body does not match the schema
 */
export function validateBody<S extends z.ZodType>(call: Call, schema: S): z.infer<S> {
  const { body } = call.req;
  // The body parser returns an empty object for an empty body.
  if (body === undefined || call.req.header('content-length') === '0')
    throw badRequest('Malformed JSON: the body is empty');
  const parseResult = schema.safeParse(body, { reportInput: true });
  if (parseResult.success) return parseResult.data;
  // Placement reports errors of outer objects before those of inner ones.
  const [issue] = [...parseResult.error.issues].sort((a, b) => depthOf(a) - depthOf(b));
  if (!issue) throw invalidBody(parseResult.error.message, 'type');
  const parent = positionAt(schema, issue.path.slice(0, -1));
  const isKey = issue.code === 'invalid_key';
  const place = isKey ? parent : positionAt(schema, issue.path);
  const [message, keyword] = describeIssue(issue, place);
  const concernsObject = OBJECT_KEYWORDS.includes(keyword) && issue.code !== 'unrecognized_keys';
  const path = concernsObject ? issue.path.slice(0, -1) : issue.path;
  const inBody = path.map((key) => `[${formatValue(key)}]`).join('');
  throw invalidBody(message, keyword, (concernsObject ? parent : place).text, inBody);
}
