import type { z } from 'zod';
import type { Call } from '../service/call.js';
import { badRequest, ServiceError } from '../service/service-error.js';

type Issue = z.core.$ZodIssue;

/** Formats a value as the original does in messages. */
const shown = (value: unknown): string => (typeof value === 'string' ? `'${value}'` : JSON.stringify(value));

const TYPES: Readonly<Record<string, string>> = { int: 'integer', record: 'object', array: 'array' };

/** Returns the message of an issue, and the keyword of JSON Schema that fails. */
function described(issue: Issue): readonly [message: string, keyword: string] {
  const { path, input } = issue;
  const key = String(path.at(-1) ?? '');
  if (issue.code === 'invalid_type' && input === undefined) return [`'${key}' is a required property`, 'required'];
  if (issue.code === 'invalid_type')
    return [`${shown(input)} is not of type '${TYPES[issue.expected] ?? issue.expected}'`, 'type'];
  if (issue.code === 'unrecognized_keys') {
    const keys = issue.keys.map((name) => `'${name}'`).join(', ');
    const verb = issue.keys.length > 1 ? 'were' : 'was';
    return [`Additional properties are not allowed (${keys} ${verb} unexpected)`, 'additionalProperties'];
  }
  if (issue.code === 'invalid_key')
    return [`'${key}' does not match any of the regexes of its object`, 'additionalProperties'];
  if (issue.code === 'too_big' && typeof input === 'number')
    return [`${input} is greater than the maximum of ${issue.maximum}`, 'maximum'];
  if (issue.code === 'too_small' && typeof input === 'number')
    return [`${input} is less than the minimum of ${issue.minimum}`, 'minimum'];
  if (issue.code === 'too_big') return [`${shown(input)} is too long`, 'maxLength'];
  if (issue.code === 'too_small')
    return [`${shown(input)} is too short`, issue.origin === 'array' ? 'minItems' : 'minLength'];
  if (issue.code === 'invalid_format' && issue.format === 'regex')
    return [`${shown(input)} does not match '${String(issue.pattern).replace(/^\/(.*)\/$/, '$1')}'`, 'pattern'];
  if (issue.code === 'invalid_format') return [`${shown(input)} is not a 'uuid'`, 'format'];
  return [`${shown(input)} ${issue.message}`, 'type'];
}

/**
 * Returns the validated body of a request to the placement service, with its messages.
 * @throws ServiceError 400 if the body does not fit the schema, 415 if it is not JSON
 */
export function bodyOf<S extends z.ZodType>(call: Call, schema: S): z.infer<S> {
  const type = call.req.header('content-type');
  if (type === undefined && Number(call.req.header('content-length') ?? 0) > 0)
    throw badRequest('content-type header required when content-length > 0');
  if (!call.req.is('application/json'))
    throw new ServiceError(415, `The media type ${type ?? 'None'} is not supported, use application/json`);
  const checked = schema.safeParse(call.req.body, { reportInput: true });
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  const [message, keyword] = issue ? described(issue) : [checked.error.message, 'type'];
  const place = (issue?.path ?? []).map((key) => `[${shown(key)}]`).join('');
  throw badRequest(
    `JSON does not validate: ${message}\n\nFailed validating '${keyword}' in schema\n\nOn instance${place}`,
  );
}
