import { z } from 'zod';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { derived, fixed, required, settable } from '../service/field.js';
import type { ResourceSpec } from '../service/resource.js';
import { created, put } from '../service/route.js';
import { badRequest, conflict, forbidden } from '../service/service-error.js';
import type { Wire } from '../service/wire.js';
import { anyId, strictFlag, text } from '../service/wire-types.js';
import { endpointUrl } from './catalog.js';

const nullableText = z.string().nullable();
const everything = ['list', 'show', 'create', 'change', 'remove'] as const;
const has = ({ cloud }: Call, table: string, id: unknown) => cloud.documents.table(`identity/${table}`).has(String(id));

const services: ResourceSpec = {
  path: 'services',
  one: 'service',
  many: 'services',
  filters: ['type', 'name'],
  admin: everything,
  fields: () => ({
    id: derived(),
    type: required(settable(text)),
    name: settable(text, ''),
    description: settable(nullableText, ''),
    enabled: settable(strictFlag, true),
  }),
  removing({ cloud }, { id }) {
    const endpoints = cloud.documents.table<Doc>('identity/endpoints');
    for (const endpoint of endpoints.values()) if (endpoint.service_id === id) endpoints.delete(endpoint.id);
  },
};

/**
 * Returns the region that a request names; undefined if it names none. The deprecated field `region` also creates it.
 */
function regionOf(call: Call, { region, region_id }: Wire): Wire | undefined {
  const id = (region_id ?? region) as string | null | undefined;
  if (id === undefined) return undefined;
  if (id !== null && !has(call, 'regions', id)) {
    if (region_id) throw badRequest(`Could not find region: ${id}.`);
    call.cloud.documents.table<Doc>('identity/regions').set(id, { id, description: '', parent_region_id: null });
  }
  return { region: id, region_id: id };
}

const endpoints: ResourceSpec = {
  path: 'endpoints',
  one: 'endpoint',
  many: 'endpoints',
  filters: ['interface', 'service_id', 'region_id'],
  admin: everything,
  fields: () => ({
    id: derived(),
    interface: required(settable(z.enum(['admin', 'public', 'internal']))),
    service_id: required(settable(anyId)),
    url: required(settable(z.string().min(1))),
    region_id: settable(anyId.nullable()),
    region: settable(anyId.nullable()),
    enabled: settable(strictFlag, true),
    name: settable(text),
    description: settable(nullableText),
  }),
  creating(call, endpoint) {
    if (!has(call, 'services', endpoint.service_id))
      throw badRequest(`Could not find service: ${endpoint.service_id}.`);
    return regionOf(call, endpoint) ?? { region: null, region_id: null };
  },
  changing(call, _before, change) {
    const { service_id } = change;
    if (service_id !== undefined && !has(call, 'services', service_id))
      throw badRequest(`Could not find service: ${service_id}.`);
    return regionOf(call, change);
  },
  shows: ({ cloudBase }, { url }) => ({ url: endpointUrl(url, cloudBase) }),
};

const regions: ResourceSpec = {
  path: 'regions',
  one: 'region',
  many: 'regions',
  filters: ['parent_region_id'],
  fields: () => ({
    id: fixed(z.string().max(255)),
    description: settable(z.string(), ''),
    parent_region_id: settable(anyId.nullable(), null),
  }),
  creating(call, { id, parent_region_id }) {
    if (id !== undefined && has(call, 'regions', id))
      throw conflict(`Conflict occurred attempting to store region - Duplicate entry found with ID ${id}.`);
    if (parent_region_id !== null && !has(call, 'regions', parent_region_id))
      throw badRequest(`Could not find region: ${parent_region_id}.`);
    return id === '' ? { id: undefined } : undefined;
  },
  removing({ cloud }, { id }) {
    if (
      [...cloud.documents.table<Doc>('identity/regions').values()].some(
        ({ parent_region_id }) => parent_region_id === id,
      )
    )
      throw forbidden(`Unable to delete region ${id} because it or its child regions have associated endpoints.`);
    if ([...cloud.documents.table<Doc>('identity/endpoints').values()].some(({ region_id }) => region_id === id))
      throw forbidden(`Unable to delete region ${id} because it or its child regions have associated endpoints.`);
  },
  routes: (resource) => [
    put('/v3/regions/:id', async (call) => {
      const requested = (call.req.body?.region ?? {}) as Record<string, unknown>;
      return created({ region: await resource.create(call, { ...requested, id: call.param('id') }) });
    }),
  ],
};

const policies: ResourceSpec = {
  path: 'policies',
  one: 'policy',
  many: 'policies',
  authorizesFirst: true,
  filters: ['type'],
  admin: everything,
  fields: () => ({
    id: derived(),
    blob: required(settable(z.union([z.string(), z.record(z.string(), z.unknown())]))),
    type: required(settable(text)),
  }),
};

const limitValue = z
  .number()
  .int()
  .min(-1)
  .max(2 ** 31 - 1);

const registeredLimits: ResourceSpec = {
  path: 'registered_limits',
  one: 'registered_limit',
  many: 'registered_limits',
  filters: ['service_id', 'region_id', 'resource_name'],
  bulk: 'only',
  fields: () => ({
    id: derived(),
    service_id: required(settable(anyId)),
    region_id: settable(anyId.nullable(), null),
    resource_name: required(settable(text)),
    default_limit: required(settable(limitValue)),
    description: settable(nullableText, null),
  }),
  creating(call, { service_id, region_id, resource_name }) {
    if (!has(call, 'services', service_id)) throw badRequest(`Could not find service: ${service_id}.`);
    const others = [...call.cloud.documents.table<Doc>('identity/registered_limits').values()];
    if (
      others.some(
        (one) => one.service_id === service_id && one.region_id === region_id && one.resource_name === resource_name,
      )
    )
      throw conflict('Conflict occurred attempting to store registered_limit - Duplicate entry.');
  },
  removing({ cloud }, { id }) {
    if ([...cloud.documents.table<Doc>('identity/limits').values()].some((limit) => limit.registered_limit_id === id))
      throw forbidden(
        `Unable to update or delete registered limit ${id} because there are project limits associated with it.`,
      );
  },
};

const limits: ResourceSpec = {
  path: 'limits',
  one: 'limit',
  many: 'limits',
  filters: ['service_id', 'region_id', 'resource_name', 'project_id', 'domain_id'],
  bulk: 'only',
  isVisible: ({ caller }, { project_id }) => project_id === caller.projectId,
  revealsMissing: ['change', 'remove'],
  fields: () => ({
    id: derived(),
    service_id: required(fixed(anyId)),
    region_id: fixed(anyId.nullable(), null),
    resource_name: required(fixed(text)),
    resource_limit: required(settable(limitValue)),
    project_id: fixed(anyId.nullable(), null),
    domain_id: fixed(anyId.nullable(), null),
    description: settable(nullableText, null),
    registered_limit_id: derived(undefined, { hidden: true }),
  }),
  creating({ cloud }, limit) {
    const registered = [...cloud.documents.table<Doc>('identity/registered_limits').values()].find(
      (one) =>
        one.service_id === limit.service_id &&
        one.region_id === limit.region_id &&
        one.resource_name === limit.resource_name,
    );
    if (!registered) throw forbidden('Unable to create a limit that has no corresponding registered limit.');
    return { registered_limit_id: registered.id };
  },
};

/** Regions, services, endpoints and limits. */
export const catalogResources: readonly ResourceSpec[] = [
  services,
  endpoints,
  regions,
  policies,
  registeredLimits,
  limits,
];
