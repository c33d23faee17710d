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

/** Descriptions of fields that occur in several places. */
export const serverTexts = {
  server: 'A server.',
  requestedServer: 'The server to create, or the attributes to update.',
  diskConfig: '`AUTO` if the file system is resized to the root disk, `MANUAL` if it is left unchanged.',
  requestedPassword: 'New administrative password. Default: a generated password.',
  createdPassword: 'Administrative password of the guest. Returned only once. Absent if passwords are disabled.',
  actionPassword:
    'Administrative password of the guest. Returned only once. Absent if passwords are disabled, and since 2.14 for evacuations.',
} as const;

/** Requests that set the properties of a server. */
export type ServerRequest = 'create' | 'update' | 'rebuild';

/**
 * The complete definition of a field: its schemas in requests, where its value is stored, and how responses show it.
 */
export interface ServerField extends Readonly<Partial<Record<ServerRequest, Windowed<AnySchema>>>> {
  /** Name of the field in requests and records of the engine. If it is missing, the handlers process the value. */
  readonly recordField?: keyof NewServer | keyof RequestOf<'rebuild'> | keyof Server;
  readonly response?: Windowed<Field<Server, HostsCall>>;
  /** The filter and sort key of lists, with the name of the field. */
  readonly filter?: ListFilter;
}

/** Defines a field that only callers with access to extended attributes see. */
export function attribute<S extends z.ZodType>(description: string, schema: S, get: (server: Server) => z.input<S>) {
  const optional: z.ZodOptional<S> = schema.optional();
  return field<Server, HostsCall, z.ZodOptional<S>>(description, optional, (server, call) =>
    viewPermissionsOf(call).attributes ? get(server) : undefined,
  );
}

/**
 * Defines the same schema for both requests that build a server, with a description for each.
 *
 * @param create the description in create requests
 * @param rebuild the description in rebuild requests. Default: `create`
 */
export function inBuilds<const S>(schemaOf: (description: string) => S, create: string, rebuild = create) {
  return { create: schemaOf(create), rebuild: schemaOf(rebuild) } as const;
}

/** Defines the same schema for all requests: like `inBuilds()`, and with the description `create` for updates. */
export function inAllBodies<const S>(schemaOf: (description: string) => S, create: string, rebuild = create) {
  const builds = inBuilds(schemaOf, create, rebuild);
  return { ...builds, update: builds.create } as const;
}
