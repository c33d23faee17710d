import { z } from 'zod';
import type { Call } from '../service/call.js';
import { notFound } from '../service/service-error.js';
import { nameUpTo, recordId } from './identity-types.js';

/** A role in a request, by ID or by name. */
export const RoleRef = z.union([z.strictObject({ id: recordId }), z.strictObject({ name: nameUpTo(255) })]);
export type RoleRef = z.infer<typeof RoleRef>;

/** Returns the ID of a role that a request names. Throws a 404 error if it does not exist. */
export function resolveRoleId({ cloud }: Call, ref: RoleRef): string {
  const { roles } = cloud.directory.state;
  const foundRole = 'id' in ref ? roles.get(ref.id) : [...roles.values()].find(({ name }) => name === ref.name);
  if (!foundRole) throw notFound(`Could not find role: ${'id' in ref ? ref.id : ref.name}.`);
  return foundRole.id;
}
