import type { Server } from '@apistrata/compute-engine';
import type { RequestOf } from '@apistrata/compute-engine/actions';
import type { NewServer } from '@apistrata/compute-engine/api';
import type { Windowed } from '@apistrata/microversion';
import type { AnySchema } from '@apistrata/microversion/schema';
import type { z } from 'zod';
import type { HostsCall } from '../http/call.js';
import type { ListFilter } from '../schemas/list-filter.js';
import { type Field, field } from './fields.js';
import { viewPermissionsOf } from './server-parts.js';

/** OpenAPI descriptions that several fields share. */
export const serverTexts = {
  server: 'A server.',
  requestedServer: 'The server to create, or the attributes to update.',
  diskConfig:
    'Disk configuration: `AUTO` if the file system is resized to fill the root disk, `MANUAL` if it is left unchanged.',
  requestedPassword: 'New administrative password. Default: a generated password.',
  createdPassword:
    'Administrative password of the guest. Returned only in this response. Absent if passwords are disabled.',
  actionPassword:
    'Administrative password of the guest. Returned only in this response. Absent if passwords are disabled, and since 2.14 in responses to evacuations.',
} as const;

/** The requests that set server fields. */
export type ServerRequest = 'create' | 'update' | 'rebuild';

/**
 * The complete definition of a server field: its schema for each request, the record field that stores its value, its
 * response field, and its list filter.
 */
export interface ServerField extends Readonly<Partial<Record<ServerRequest, Windowed<AnySchema>>>> {
  /** The field's name in the engine's requests and records. If the name is omitted, the handlers process the value. */
  readonly recordField?: keyof NewServer | keyof RequestOf<'rebuild'> | keyof Server;
  readonly response?: Windowed<Field<Server, HostsCall>>;
  /** The filter and sort key with the field's name in server lists. */
  readonly filter?: ListFilter;
}

/** Defines a response field that is visible only to callers with access to extended attributes. */
export function extendedAttribute<S extends z.ZodType>(
  description: string,
  schema: S,
  get: (server: Server) => z.input<S>,
) {
  const optional: z.ZodOptional<S> = schema.optional();
  return field<Server, HostsCall, z.ZodOptional<S>>(description, optional, (server, call) =>
    viewPermissionsOf(call).attributes ? get(server) : undefined,
  );
}

/**
 * Defines the same schema, with different descriptions, for the two requests that build a server: create and rebuild.
 *
 * @param create the description in create requests
 * @param rebuild the description in rebuild requests. Default: `create`
 */
export function inBuilds<const S>(schemaOf: (description: string) => S, create: string, rebuild = create) {
  return { create: schemaOf(create), rebuild: schemaOf(rebuild) } as const;
}

/** Defines the same schema for create, rebuild and update requests. Update requests use the description `create`. */
export function inAllBodies<const S>(schemaOf: (description: string) => S, create: string, rebuild = create) {
  const buildSchemas = inBuilds(schemaOf, create, rebuild);
  return { ...buildSchemas, update: buildSchemas.create } as const;
}
