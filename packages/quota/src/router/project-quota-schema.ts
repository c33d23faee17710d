import type { Limit } from '../limits.js';
import type { JsonObject, JsonValue } from './json-value.js';
import { RejectedRequest } from './router-response.js';
import { notationOf, textNotation } from './value-notation.js';

const MEMBER = 'project_quotas';
const MAX_LIMIT = 2n ** 63n - 1n;

/** Creates the error for a body that does not match the schema. */
function violation(reason: string, property: string): RejectedRequest {
  const message = `Provided object does not match schema 'Project Quota': ${reason}. Invalid property: '${property}'`;
  return new RejectedRequest(400, message);
}

/**
 * Returns the limits in a request body such as `{"project_quotas": {"secrets": 10, "orders": null}}`.
 *
 * @throws RejectedRequest for the first violation: in the body, then in `project_quotas`, then in its kinds in order
 */
export function limitsIn(body: JsonValue, kinds: readonly string[]): Readonly<Record<string, Limit | null>> {
  const outer = objectOf(body, 'None');
  const member = outer.get(MEMBER);
  if (member === undefined) throw violation(`'${MEMBER}' is a required property`, 'None');
  rejectUnknownNames(outer, [MEMBER], 'None');
  const limits = objectOf(member, MEMBER);
  rejectUnknownNames(limits, kinds, MEMBER);
  return Object.fromEntries(
    kinds.flatMap((kind) => {
      const limit = limits.get(kind);
      return limit === undefined ? [] : [[kind, limitOf(limit)]];
    }),
  );
}

function objectOf(value: JsonValue, property: string): JsonObject {
  if (value instanceof Map) return value;
  throw violation(`${notationOf(value)} is not of type 'object'`, property);
}

function rejectUnknownNames(object: JsonObject, knownNames: readonly string[], property: string): void {
  const others = [...object.keys()].filter((name) => !knownNames.includes(name)).map(textNotation);
  if (others.length === 0) return;
  const verb = others.length === 1 ? 'was' : 'were';
  const reason = `Additional properties are not allowed (${others.join(', ')} ${verb} unexpected)`;
  throw violation(reason, property);
}

function limitOf(value: JsonValue): Limit | null {
  if (value === null) return null;
  const isInteger = typeof value === 'bigint' || Number.isInteger(value);
  if (!isInteger) throw violation(`${notationOf(value)} is not of type 'integer'`, MEMBER);
  const exact = BigInt(value as number | bigint);
  if (exact < -1n) throw violation(`${exact} is less than the minimum of -1`, MEMBER);
  if (exact > MAX_LIMIT) throw violation(`${exact} is greater than the maximum of ${MAX_LIMIT}`, MEMBER);
  return exact;
}
