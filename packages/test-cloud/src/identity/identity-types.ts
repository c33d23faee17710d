import { z } from 'zod';
import type { Call } from '../service/call.js';
import type { ResourceSpec } from '../service/resource.js';
import { created, put } from '../service/route.js';
import { conflict } from '../service/service-error.js';

/** The schemas and partial specifications that the identity service's resources share. */

export const nullableText = z.string().nullable();
/** A name of 1 to `max` characters that are not all white space. */
export const nameUpTo = (max: number) => z.string().min(1).max(max).regex(/\S/).trim();
/** A record ID in a request: 1 to 64 letters, digits and hyphens. */
export const recordId = z.string().regex(/^[a-zA-Z0-9-]{1,64}$/);
/** A UUID, with or without hyphens. */
export const uuid = z.string().regex(/^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i, 'is not a UUID');
export const url = z
  .string()
  .max(225)
  .regex(/^[a-zA-Z0-9+.-]+:./);

/** A boolean in any spelling that Keystone accepts; null selects the default. */
export const flag = z.union([
  z.boolean(),
  z.enum(['True', 'TRUE', 'true', '1', 'y', 'Y', 'on', 'ON', 'yes']).transform(() => true),
  z.enum(['False', 'FALSE', 'false', '', '0', 'n', 'N', 'off', 'OFF', 'no']).transform(() => false),
  z.null().transform(() => undefined),
]);

/** Returns the PUT route that creates a resource with an ID that the client chooses. */
export const withPutRoute = (one: string, initial?: object): Pick<ResourceSpec, 'routes'> => ({
  routes: (resource) => [
    put(`/v3/${resource.spec.path}/:id`, async (call) => {
      const { body = {} } = call.req;
      const requested = body?.[one] ?? (Object.keys(body).length === 0 ? initial : undefined);
      const fields = typeof requested === 'object' ? { ...requested, id: call.param('id') } : requested;
      const createdResource = await resource.create(call, fields);
      return created({ [one]: resource.spec.views?.create?.(createdResource) ?? createdResource });
    }),
  ],
});

/** Throws a 409 error if a record with this ID exists. */
export function rejectDuplicateId({ cloud }: Call, many: string, one: string, id: unknown): void {
  if (cloud.documents.table(`identity/${many}`).has(String(id)))
    throw conflict(`Conflict occurred attempting to store ${one} - Duplicate entry found with ID ${id}.`);
}
