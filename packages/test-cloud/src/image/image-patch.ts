import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { badRequest, conflict, forbidden } from '../service/service-error.js';
import { isObject, type Wire } from '../service/wire.js';
import {
  checkCounts,
  checkNotReserved,
  checkSizes,
  READ_ONLY_ATTRIBUTES,
  requirePublicationPolicy,
  SETTABLE_ATTRIBUTES,
} from './image-attributes.js';
import { requirePolicy } from './policies.js';
import { checkSchema } from './schema-check.js';
import { IMAGE } from './schemas.js';

type OperationName = 'add' | 'remove' | 'replace';

/** A parsed operation of a JSON patch. */
interface Operation {
  readonly op: OperationName;
  readonly key: string;
  readonly value: unknown;
}

const OPERATION_NAMES: readonly OperationName[] = ['add', 'remove', 'replace'];
const ALLOWED_OPERATIONS_TEXT = `It must be one of the following: ${OPERATION_NAMES.join(', ')}.`;
const isName = (op: unknown): op is OperationName => OPERATION_NAMES.includes(op as OperationName);

/** Returns the operation's name and its JSON pointer. */
function parseOperation(raw: Wire): readonly [OperationName, unknown] {
  const { op } = raw;
  if (op === undefined || op === null)
    throw badRequest(`Unable to find \`op\` in JSON Schema change. ${ALLOWED_OPERATIONS_TEXT}`);
  if (!isName(op)) throw badRequest(`Invalid operation: \`${op}\`. ${ALLOWED_OPERATIONS_TEXT}`);
  if (!Object.hasOwn(raw, 'path')) throw badRequest("Unable to find 'path' in JSON Schema change");
  return [op, raw.path];
}

/** Returns the name and JSON pointer of an operation in the older format, in which the name is a key. */
function parseOlderOperation(raw: Wire): readonly [OperationName, unknown] {
  const [op, ...others] = OPERATION_NAMES.filter((name) => Object.hasOwn(raw, name));
  if (op && others.length === 0) return [op, raw[op]];
  throw badRequest(
    `Operation objects must contain ${op ? 'only' : 'exactly'} one member named "add", "remove", or "replace".`,
  );
}

/** Splits a JSON pointer into its decoded parts. */
function parsePointer(pointer: unknown): readonly string[] {
  const pointerError = (problem: string) => badRequest(`Pointer \`${pointer}\` ${problem}`);
  if (typeof pointer !== 'string' || !pointer.startsWith('/')) throw pointerError('does not start with "/".');
  if (/\/\s*\//.test(pointer.slice(1))) throw pointerError('contains adjacent "/".');
  if (pointer.length > 1 && pointer.endsWith('/')) throw pointerError('end with "/".');
  if (/~([^01]|$)/.test(pointer)) throw pointerError('contains "~" not part of a recognized escape sequence.');
  const parts = pointer.replace(/^\/+/, '').split('/');
  return parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~').trim());
}

/** Parses an operation. Validates everything that does not depend on the image. */
function toOperation(raw: unknown, isOlder: boolean): Operation {
  if (!isObject(raw)) throw badRequest('Operations must be JSON objects.');
  const [op, pointer] = (isOlder ? parseOlderOperation : parseOperation)(raw);
  const parts = parsePointer(pointer);
  const [key = ''] = parts;
  const depth = key === 'locations' && op !== 'replace' ? 2 : 1;
  if (parts.length !== depth) throw badRequest(`Invalid JSON pointer for this resource: '/${parts.join('/')}'`);
  if (op !== 'remove' && !Object.hasOwn(raw, 'value'))
    throw badRequest(`Operation "${op}" requires a member named "value".`);
  if (READ_ONLY_ATTRIBUTES.includes(key)) throw forbidden(`Attribute '${key}' is read-only.`);
  checkNotReserved(key);
  const { value } = raw;
  if (op !== 'remove') checkSchema(IMAGE, { [key]: depth === 2 ? [value] : value });
  return { op, key, value };
}

/** Parses the body of a patch request. */
export function parsePatch(body: unknown, isOlder: boolean): readonly Operation[] {
  if (!Array.isArray(body)) throw badRequest('Request body must be a JSON array of operation objects.');
  return body.map((raw) => toOperation(raw, isOlder));
}

/** Throws the error for an operation on `locations`, which clients can neither see nor change. */
function rejectLocations(call: Call, { op, value }: Operation): never {
  if (op === 'remove') requirePolicy(call, 'delete_image_location');
  const isEmpty = op === 'replace' && (value as readonly unknown[]).length === 0;
  throw forbidden(
    isEmpty
      ? 'Cannot set locations to empty list.'
      : `It's not allowed to ${op === 'replace' ? 'update' : op} locations if locations are invisible.`,
  );
}

/** Applies patch operations to an image and returns the changed fields; null removes a property. */
export function applyPatch(call: Call, image: Doc, operations: readonly Operation[], isOlder: boolean): Wire {
  const change: Record<string, unknown> = {};
  const isAttribute = (key: string) => SETTABLE_ATTRIBUTES.has(key);
  const isPresent = (key: string) =>
    isAttribute(key) || (Object.hasOwn(change, key) ? change[key] !== null : Object.hasOwn(image, key));
  for (const operation of operations) {
    const { op, key, value } = operation;
    if (key === 'locations') rejectLocations(call, operation);
    if (op === 'remove' && isAttribute(key)) throw forbidden(`Property ${key} may not be removed.`);
    if (op === 'add' && isOlder && isPresent(key)) throw conflict(`Property ${key} already present.`);
    if (op !== 'add' && !isPresent(key)) throw conflict(`Property ${key} does not exist.`);
    if (key.endsWith('_format') && isAttribute(key) && image.status !== 'queued')
      throw forbidden(`Attribute ${key} can be only replaced for a queued image.`);
    if (key === 'owner' && !call.isAdmin) throw forbidden("Owner can't be updated by non admin.");
    change[key] = op === 'remove' ? null : value;
  }
  requirePublicationPolicy(call, change);
  checkSizes(change);
  checkCounts({ ...image, ...change });
  return change;
}
