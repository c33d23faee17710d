import { z } from 'zod';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { derived, fixed, required, settable } from '../service/field.js';
import type { ResourceSpec } from '../service/resource.js';
import { badRequest, conflict, forbidden } from '../service/service-error.js';
import type { Wire } from '../service/wire.js';
import { strictFlag, text } from '../service/wire-types.js';
import { subjectOf } from './authorize.js';
import { endpointUrl } from './catalog.js';
import { nameUpTo, nullableText, recordId, rejectDuplicateId, url, uuid, withPutRoute } from './identity-types.js';
import { recordTarget } from './record-policy.js';

const shortText = z.string().max(255).nullable();
const regionId = z.string().min(1).max(255).nullable();
const recordExists = ({ cloud }: Call, table: string, id: unknown) =>
  cloud.documents.table(`identity/${table}`).has(String(id));

const services: ResourceSpec = {
  path: 'services',
  one: 'service',
  many: 'services',
  filters: ['type', 'name'],
  fields: () => ({
    id: derived(),
    type: required(settable(z.string().min(1).max(255))),
    name: settable(z.string().min(1).max(255), ''),
    description: settable(nullableText),
    enabled: settable(strictFlag, true),
  }),
  removing: ({ cloud }, { id }) => cloud.directory.removeReferencesTo(id),
};

/**
 * Returns the region that a request names, or undefined. If the deprecated field `region` names a region that does not
 * exist, creates the region.
 */
function regionFields(call: Call, { region, region_id }: Wire): Wire | undefined {
  const id = (region_id ?? region) as string | null | undefined;
  if (id === undefined) return undefined;
  if (id !== null && !recordExists(call, 'regions', id)) {
    if (region_id) throw badRequest(`Could not find region: ${id}.`);
    call.cloud.documents.table<Doc>('identity/regions').set(id, { id, description: '', parent_region_id: null });
  }
  return { region: id, region_id: id };
}

/** Throws a 400 error if an endpoint URL contains a placeholder that the catalog does not replace. */
function checkEndpointUrl({ url }: Wire): void {
  if (/[$%]\((?!(tenant|user|project)_id\)s)/.test(String(url)))
    throw badRequest(`Cannot create an endpoint with an invalid URL: ${url}.`);
}

const endpoints: ResourceSpec = {
  path: 'endpoints',
  one: 'endpoint',
  many: 'endpoints',
  filters: ['interface', 'service_id', 'region_id'],
  fields: () => ({
    id: derived(),
    interface: required(settable(z.enum(['admin', 'public', 'internal']))),
    service_id: required(settable(z.string())),
    url: required(settable(url)),
    region_id: settable(nullableText),
    region: settable(nullableText),
    enabled: settable(strictFlag, true),
    name: settable(z.string()),
    description: settable(nullableText),
  }),
  creating(call, endpoint) {
    checkEndpointUrl(endpoint);
    if (!recordExists(call, 'services', endpoint.service_id))
      throw badRequest(`Could not find service: ${endpoint.service_id}.`);
    return regionFields(call, endpoint) ?? { region: null, region_id: null };
  },
  removing: ({ cloud }, { id }) => cloud.directory.removeReferencesTo(id),
  changing(call, _before, change) {
    const { service_id } = change;
    if (service_id !== undefined && !recordExists(call, 'services', service_id))
      throw badRequest(`Could not find service: ${service_id}.`);
    return regionFields(call, change);
  },
  shows: ({ cloudBase }, { url }) => ({ url: endpointUrl(url, cloudBase) }),
};

const regions: ResourceSpec = {
  ...withPutRoute('region'),
  path: 'regions',
  one: 'region',
  many: 'regions',
  filters: ['parent_region_id'],
  fields: () => ({
    id: fixed(shortText),
    description: settable(
      shortText.transform((description) => description ?? ''),
      '',
    ),
    parent_region_id: settable(regionId, null),
  }),
  creating(call, { id, parent_region_id }) {
    rejectDuplicateId(call, 'regions', 'region', id);
    if (parent_region_id !== null && !recordExists(call, 'regions', parent_region_id))
      throw badRequest(`Could not find region: ${parent_region_id}.`);
    return id ? undefined : { id: undefined };
  },
  removing(call, { id }) {
    const isUsed =
      recordsOf(call, 'regions').some(({ parent_region_id }) => parent_region_id === id) ||
      recordsOf(call, 'endpoints').some(({ region_id }) => region_id === id);
    if (isUsed)
      throw forbidden(`Unable to delete region ${id} because it or its child regions have associated endpoints.`);
  },
};

const policies: ResourceSpec = {
  path: 'policies',
  one: 'policy',
  many: 'policies',
  authorizesFirst: true,
  filters: ['type'],
  fields: () => ({
    id: derived(),
    blob: required(settable(z.string())),
    type: required(settable(text)),
  }),
};

const limitValue = z
  .number()
  .int()
  .min(-1)
  .max(2 ** 31 - 1);

const recordsOf = ({ cloud }: Call, many: string) => [...cloud.documents.table<Doc>(`identity/${many}`).values()];
const LIMIT_KEYS = ['service_id', 'region_id', 'resource_name'];
const isSameLimit = (one: Wire, other: Wire) => LIMIT_KEYS.every((key) => one[key] === other[key]);

/** Throws if a registered limit's service or region does not exist, or if the resource already has another one. */
function checkRegisteredLimit(call: Call, limit: Wire): void {
  const { service_id, region_id, id } = limit;
  if (!recordExists(call, 'services', service_id)) throw badRequest(`Could not find service: ${service_id}.`);
  if (region_id && !recordExists(call, 'regions', region_id)) throw badRequest(`Could not find region: ${region_id}.`);
  if (recordsOf(call, 'registered_limits').some((one) => one.id !== id && isSameLimit(one, limit)))
    throw conflict('Conflict occurred attempting to store registered_limit - Duplicate entry.');
}

/** Rejects changing or removing a registered limit that a project or domain limit overrides. */
function rejectOverridden(call: Call, { id }: Doc): void {
  if (recordsOf(call, 'limits').some((limit) => limit.registered_limit_id === id))
    throw forbidden(
      `Unable to update or delete registered limit ${id} because there are project limits associated with it.`,
    );
}

const registeredLimits: ResourceSpec = {
  path: 'registered_limits',
  one: 'registered_limit',
  many: 'registered_limits',
  filters: ['service_id', 'region_id', 'resource_name'],
  bulk: 'only',
  unknownFields: () => 'reject',
  fields: () => ({
    id: derived(),
    service_id: required(settable(uuid)),
    region_id: settable(regionId, null),
    resource_name: required(settable(nameUpTo(255))),
    default_limit: required(settable(limitValue)),
    description: settable(shortText, null),
  }),
  creating(call, limit) {
    checkRegisteredLimit(call, limit);
    return undefined;
  },
  changing(call, before, change) {
    rejectOverridden(call, before);
    if (LIMIT_KEYS.some((key) => change[key] !== undefined)) checkRegisteredLimit(call, { ...before, ...change });
    return undefined;
  },
  removing: rejectOverridden,
};

/**
 * Returns whether a list contains a limit. Administrators, services and callers with a system scope see all limits.
 * Callers with a domain scope see the limits of the domain and its projects; others see those of their project.
 */
function isLimitListed(call: Call, limit: Doc): boolean {
  const { roles, scope, domainId, projectId } = subjectOf(call);
  if (scope === 'system' || roles.includes('admin') || roles.includes('service')) return true;
  const { domains, project } = recordTarget(call, 'limits', limit);
  return domainId === undefined ? project === projectId : domains?.[0] === domainId;
}

const limits: ResourceSpec = {
  path: 'limits',
  one: 'limit',
  many: 'limits',
  filters: ['service_id', 'region_id', 'resource_name', 'project_id', 'domain_id'],
  bulk: 'only',
  lists: isLimitListed,
  revealsMissing: ['change', 'remove'],
  unknownFields: () => 'reject',
  fields: () => ({
    id: derived(),
    service_id: required(fixed(uuid)),
    region_id: fixed(regionId, null),
    resource_name: required(fixed(nameUpTo(255))),
    resource_limit: required(settable(limitValue)),
    project_id: fixed(recordId.nullable(), null),
    domain_id: fixed(recordId.nullable(), null),
    description: settable(shortText, null),
    registered_limit_id: derived(undefined, { hidden: true }),
  }),
  creating(call, limit) {
    const { state } = call.cloud.directory;
    const { project_id, domain_id } = limit;
    if (!project_id === !domain_id)
      throw badRequest(`${JSON.stringify(limit)} is not valid under any of the given schemas`);
    if (project_id && !state.projects.has(String(project_id)))
      throw badRequest(`Could not find project: ${project_id}.`);
    if (domain_id && !state.domains.has(String(domain_id))) throw badRequest(`Could not find domain: ${domain_id}.`);
    const registeredLimit = recordsOf(call, 'registered_limits').find((one) => isSameLimit(one, limit));
    if (!registeredLimit) throw forbidden('Unable to create a limit that has no corresponding registered limit.');
    const isUsed = recordsOf(call, 'limits').some(
      (one) => isSameLimit(one, limit) && one.project_id === project_id && one.domain_id === domain_id,
    );
    if (isUsed) throw conflict('Conflict occurred attempting to store limit - Duplicate entry.');
    return { registered_limit_id: registeredLimit.id };
  },
};

/** The resources of the service catalog, policies and limits. */
export const catalogResources: readonly ResourceSpec[] = [
  services,
  endpoints,
  regions,
  policies,
  registeredLimits,
  limits,
];
