import type { Limit } from '../limits.js';
import type { JsonObject, JsonValue } from './json-value.js';
import { RejectedRequest } from './router-response.js';
import { notationOf, textNotation } from './value-notation.js';

const MEMBER_NAME = 'project_quotas';
const MAX_LIMIT = 2n ** 63n - 1n;

/** Creates the error for a body that does not match the schema. */
function violationError(reason: string, property: string): RejectedRequest {
  const message = `Provided object does not match schema 'Project Quota': ${reason}. Invalid property: '${property}'`;
  return new RejectedRequest(400, message);
}

/**
 * Returns the limits in a request body such as `{"project_quotas": {"secrets": 10, "orders": null}}`.
 *
 * @throws RejectedRequest for the first violation: in the body, then in `project_quotas`, then in its kinds in order
 */
export function parseLimits(body: JsonValue, kinds: readonly string[]): Readonly<Record<string, Limit | null>> {
  const bodyObject = requireObject(body, 'None');
  const member = bodyObject.get(MEMBER_NAME);
  if (member === undefined) throw violationError(`'${MEMBER_NAME}' is a required property`, 'None');
  rejectUnknownNames(bodyObject, [MEMBER_NAME], 'None');
  const limits = requireObject(member, MEMBER_NAME);
  rejectUnknownNames(limits, kinds, MEMBER_NAME);
  return Object.fromEntries(
    kinds.flatMap((kind) => {
      const limit = limits.get(kind);
      return limit === undefined ? [] : [[kind, parseLimit(limit)]];
    }),
  );
}

function requireObject(value: JsonValue, property: string): JsonObject {
  if (value instanceof Map) return value;
  throw violationError(`${notationOf(value)} is not of type 'object'`, property);
}

function rejectUnknownNames(object: JsonObject, knownNames: readonly string[], property: string): void {
  const unknownNames = [...object.keys()].filter((name) => !knownNames.includes(name)).map(textNotation);
  if (unknownNames.length === 0) return;
  const verb = unknownNames.length === 1 ? 'was' : 'were';
  const reason = `Additional properties are not allowed (${unknownNames.join(', ')} ${verb} unexpected)`;
  throw violationError(reason, property);
}

function parseLimit(value: JsonValue): Limit | null {
  if (value === null) return null;
  const isInteger = typeof value === 'bigint' || Number.isInteger(value);
  if (!isInteger) throw violationError(`${notationOf(value)} is not of type 'integer'`, MEMBER_NAME);
  const exactLimit = BigInt(value as number | bigint);
  if (exactLimit < -1n) throw violationError(`${exactLimit} is less than the minimum of -1`, MEMBER_NAME);
  if (exactLimit > MAX_LIMIT)
    throw violationError(`${exactLimit} is greater than the maximum of ${MAX_LIMIT}`, MEMBER_NAME);
  return exactLimit;
}
