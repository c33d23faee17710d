import { z } from 'zod';
import type { Doc } from '../service/documents.js';
import type { Resource } from '../service/resource.js';
import { badRequest, conflict, forbidden } from '../service/service-error.js';
import type { Wire } from '../service/wire.js';

type Operation = { readonly op: 'add' | 'replace' | 'remove'; readonly path: string; readonly value?: unknown };

const path = z.string().startsWith('/').max(1024);
const Patch = z.array(z.object({ op: z.enum(['add', 'replace', 'remove']), path, value: z.unknown().optional() }));
/** The older format, in which the name of the operation is a key. */
const OlderPatch = z.array(
  z.union([
    z
      .strictObject({ add: path, value: z.unknown() })
      .transform(({ add, value }): Operation => ({ op: 'add', path: add, value })),
    z
      .strictObject({ replace: path, value: z.unknown() })
      .transform(({ replace, value }): Operation => ({ op: 'replace', path: replace, value })),
    z.strictObject({ remove: path }).transform(({ remove }): Operation => ({ op: 'remove', path: remove })),
  ]),
);

/** Converts a JSON patch to a change; null removes a property. */
export function readPatch(resource: Resource, image: Doc, body: unknown, isOlder: boolean): Wire {
  const checked = (isOlder ? OlderPatch : Patch).safeParse(body);
  if (!checked.success) throw badRequest(`Invalid operations in the patch: ${checked.error.issues[0]?.message}`);
  const change: Record<string, unknown> = {};
  const has = (key: string) => (Object.hasOwn(change, key) ? change[key] !== null : Object.hasOwn(image, key));
  for (const { op, path: pointer, value } of checked.data as readonly Operation[]) {
    const part = pointer.slice(1);
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (part.includes('/')) throw badRequest(`Invalid JSON pointer for this resource: '${pointer}'`);
    const field = Object.hasOwn(resource.fields, key) ? resource.fields[key] : undefined;
    if (field && field.sets !== 'always') throw forbidden(`Attribute '${key}' is read-only.`);
    if (op === 'remove' && field) throw forbidden(`Property '${key}' may not be removed.`);
    if (op !== 'add' && !has(key)) throw conflict(`Property ${key} does not exist.`);
    if (op === 'remove') change[key] = null;
    else {
      if (value === undefined) throw badRequest(`Operation "${op}" requires a member named "value".`);
      const read = field?.schema?.safeParse(value);
      if (read && !read.success)
        throw resource.style.errors.invalid(resource, key, value, read.error.issues[0]?.message ?? 'is not valid');
      change[key] = read ? read.data : value;
    }
  }
  return change;
}
