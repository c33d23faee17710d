import type { ExceededLimit, Limit } from '../limits.js';
import type { ConsumeRequest, OwnLimits } from '../store.js';

/**
 * Parses the reply of a reserve or consume script: a flat list of name, used amount and limit of each exceeded kind.
 */
export function parseExceeded(request: ConsumeRequest, reply: readonly string[]): readonly ExceededLimit[] {
  const exceeded: ExceededLimit[] = [];
  const fields = reply.values();
  for (const kind of fields) {
    const [used, limit] = [Number(fields.next().value), Number(fields.next().value)];
    exceeded.push({ kind, requested: Number(request.amounts[kind]), used, limit });
  }
  return exceeded;
}

/**
 * Returns the entries of a Redis hash. The reply is a flat list of alternating fields and values, or an object if the
 * client converts it.
 */
export function hashEntries(reply: unknown): [string, string][] {
  if (!Array.isArray(reply)) return Object.entries((reply ?? {}) as Record<string, string>);
  const fields: [string, string][] = [];
  for (let index = 0; index < reply.length; index += 2) fields.push([String(reply[index]), String(reply[index + 1])]);
  return fields;
}

/** Parses a project's own limits. The field with the empty name only marks that the project has an entry. */
export function limitsOf(fields: readonly [string, string][]): OwnLimits {
  const limits: Record<string, Limit> = {};
  for (const [kind, decimal] of fields) {
    if (kind !== '') limits[kind] = Number.isSafeInteger(Number(decimal)) ? Number(decimal) : BigInt(decimal);
  }
  return limits;
}
