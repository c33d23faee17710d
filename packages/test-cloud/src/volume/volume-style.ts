import { randomUUID } from 'node:crypto';
import { microversionOf } from '@apistrata/microversion';
import type { Call } from '../service/call.js';
import { matchesValue, parseComparison, parseTimestamp } from '../service/filter.js';
import { pageAfter, pageUrl, type SortKey, sortItems } from '../service/listing.js';
import { badRequest, notFound } from '../service/service-error.js';
import type { ResourceType, Style } from '../service/style.js';
import { formatMicros } from '../service/times.js';
import { isObject, type Wire } from '../service/wire.js';
import { authorizeVerb } from './policies.js';

/** The list filters that all callers may use, as in `/resource_filters`. Administrators may use any filter. */
export const RESOURCE_FILTERS = {
  volume: [
    'name',
    'status',
    'metadata',
    'bootable',
    'migration_status',
    'availability_zone',
    'group_id',
    'size',
    'created_at',
    'updated_at',
    'consumes_quota',
  ],
  backup: ['name', 'status', 'volume_id'],
  snapshot: ['name', 'status', 'volume_id', 'metadata', 'availability_zone', 'consumes_quota'],
  group: ['name'],
  group_snapshot: ['name', 'status', 'group_id'],
  attachment: ['volume_id', 'status', 'instance_id', 'attach_status'],
  message: ['resource_uuid', 'resource_type', 'event_id', 'request_id', 'message_level'],
  pool: ['name', 'volume_type'],
  volume_type: ['is_public', 'extra_specs'],
} as const;

const PAGING = new Set([
  'limit',
  'marker',
  'offset',
  'sort',
  'sort_key',
  'sort_dir',
  'all_tenants',
  'with_count',
  'is_public',
  'list_volume',
  'cascade',
  'force',
  'detail',
]);
const MAX_PAGE_SIZE = 1000;
const TIME_FILTERS = ['created_at', 'updated_at'];

/** Returns the 400 error for a value that is valid according to the schema. */
export const invalidInput = (message: string) => badRequest(`Invalid input received: ${message}`);

/** Returns the negotiated minor version, from 0 to 71. */
export const minorOf = (call: Call) => Number(microversionOf(call.req)?.minor ?? 0);

/** Returns whether a request selects this minor version of the volume API or a later one. */
export const isAtLeast = (call: Call, minor: number): boolean => minorOf(call) >= minor;

/** Throws the 404 error for paths and actions that do not exist in the negotiated version. */
export function requireMinor(call: Call, first = 0): void {
  if (!isAtLeast(call, first)) throw notFound('The resource could not be found.');
}

/**
 * Returns the host or the cluster in a request. Throws a 400 error unless the request names exactly one.
 * @param first the minor version that introduced clusters
 */
export function hostOrCluster(
  call: Call,
  { host, cluster }: { readonly host?: string | null; readonly cluster?: string | null },
  first = 0,
): string {
  const canNameCluster = isAtLeast(call, first);
  const requested = (canNameCluster && cluster) || undefined;
  if (Boolean(host) === Boolean(requested))
    throw invalidInput(canNameCluster ? 'One and only one of cluster and host must be set.' : 'Host field is missing.');
  return host || String(requested);
}

/**
 * Returns a check that throws a 400 error if a change has no fields.
 * @param first the first minor version with the check
 */
export const requireFields =
  (first = 0) =>
  (call: Call, _before: unknown, change: Wire): undefined => {
    if (Object.keys(change).length === 0 && isAtLeast(call, first))
      throw badRequest('{} is not valid under any of the given schemas');
  };

/** Returns a check that throws a 400 error if all fields of a change are null or missing. */
export const requireValues =
  (what: string) =>
  (_call: Call, _before: unknown, change: Wire): undefined => {
    if (Object.values(change).every((value) => value === null))
      throw badRequest(`Specify ${what} or a combination thereof.`);
  };

/**
 * Returns whether a list includes a project's resources. Administrators can request all projects or one of them;
 * otherwise, lists include only the caller's project.
 */
export function isListed(call: Call, project: unknown): boolean {
  const includesAllProjects = call.isAdmin && call.flag('all_tenants') === true;
  const requested = call.isAdmin ? call.query.get('project_id') : null;
  return (includesAllProjects || project === call.caller.projectId) && (requested ?? project) === project;
}

/**
 * Returns whether an administrator's list includes types of this visibility. The filter `is_public` selects public or
 * private types; the value `none` selects all types. Default: public types.
 */
export function isOfVisibility(call: Call, isPublic: unknown): boolean {
  const requested = call.query.get('is_public')?.toLowerCase();
  return requested === 'none' || (call.flag('is_public') ?? true) === isPublic;
}

/** The names of response fields that differ from the name of the filter or sort key. */
const RESPONSE_FIELDS: Readonly<Record<string, readonly string[]>> = {
  display_name: ['name'],
  project_id: [
    'os-vol-tenant-attr:tenant_id',
    'os-extended-snapshot-attributes:project_id',
    'os-backup-project-attr:project_id',
  ],
};

function shownValue(item: Wire, name: string): unknown {
  const shown = [name, ...(RESPONSE_FIELDS[name] ?? [])].find((key) => item[key] !== undefined);
  return shown === undefined ? undefined : item[shown];
}

/** Parses a dictionary in the notation of filters, such as `metadata={'tier': 'gold'}`. */
function parseDictionary(filterValue: string): readonly (readonly [string, string])[] {
  const pairs = [...filterValue.matchAll(/u?(['"])(.*?)\1\s*:\s*u?(['"])(.*?)\3/g)];
  if (pairs.length === 0 && !/^\{\s*\}$/.test(filterValue)) throw invalidInput(`${filterValue} is not a dictionary`);
  return pairs.map(([, , key = '', , value = '']) => [key, value]);
}

function matchesFilter(item: Wire, name: string, filterValue: string): boolean {
  const value = shownValue(item, name);
  if (TIME_FILTERS.includes(name))
    return filterValue.split(',').every((part) => {
      const condition = parseComparison(part);
      const filterTime = parseTimestamp(condition?.value ?? '');
      if (!condition || Number.isNaN(filterTime)) throw invalidInput(`${name} filter ${part} is invalid`);
      return condition.holds(parseTimestamp(String(value)) - filterTime);
    });
  if (isObject(value)) return parseDictionary(filterValue).every(([key, expected]) => value[key] === expected);
  return matchesValue(value, filterValue);
}

function filterItems(call: Call, { spec }: ResourceType, items: readonly Wire[]): readonly Wire[] {
  const configuredFilters = call.isAdmin
    ? undefined
    : (RESOURCE_FILTERS as Readonly<Record<string, readonly string[]>>)[spec.one];
  const knownNames = new Set(configuredFilters ?? spec.filters ?? []);
  const parameters = [...call.query].filter(([name]) => !PAGING.has(name));
  const removeTilde = (name: string) => name.replace(/~$/, '');
  // Only administrators may use filters that match substrings, such as `name~=web`.
  const unknownNames = parameters
    .map(([name]) => name)
    .filter((name) => !knownNames.has(configuredFilters ? name : removeTilde(name)));
  // Administrators may use any filter. Unknown filters match nothing.
  if (unknownNames.length > 0 && call.isAdmin) return [];
  if (unknownNames.length > 0 && isAtLeast(call, spec.one === 'volume_type' ? 52 : 31))
    throw badRequest(`Invalid filters ${unknownNames.join(',')} are found in query options.`);
  return items.filter((item) =>
    parameters
      // `isListed` filters by the project, because some versions do not show the project.
      .filter(([name]) => name !== 'project_id' && knownNames.has(removeTilde(name)))
      .every(([name, filterValue]) =>
        name.endsWith('~') && isAtLeast(call, 34)
          ? String(shownValue(item, removeTilde(name)) ?? '').includes(filterValue)
          : matchesFilter(item, removeTilde(name), filterValue),
      ),
  );
}

/** Parses `sort=name:asc,created_at`, or the older `sort_key` and `sort_dir`. By default, the newest item is first. */
function sortKeys(call: Call, isSortable: (key: string) => boolean): readonly SortKey[] {
  const { query } = call;
  const sortParameter = query.get('sort');
  if (sortParameter !== null && (query.has('sort_key') || query.has('sort_dir')))
    throw badRequest(
      "The 'sort_key' and 'sort_dir' parameters are deprecated and cannot be used with the 'sort' parameter.",
    );
  const sortParts =
    sortParameter === null
      ? query.getAll('sort_key').map((key, index) => [key, query.getAll('sort_dir')[index] ?? 'desc'])
      : sortParameter.split(',').map((part) => part.split(':', 2));
  return sortParts.map(([key = '', direction = 'desc']) => {
    if (direction !== 'asc' && direction !== 'desc')
      throw invalidInput("Unknown sort direction, must be 'desc' or 'asc'.");
    if (!isSortable(key.trim())) throw invalidInput(`Sort key supplied is invalid: ${key}`);
    return { key: RESPONSE_FIELDS[key.trim()]?.[0] ?? key.trim(), descending: direction === 'desc' };
  });
}

/**
 * Returns the key for the links in a list response, such as `volumes_links` or, for volume types, `volume_type_links`.
 */
const linksKeyOf = (many: string) => `${many.replace(/^(group.*|volume_type)s$/, '$1')}_links`;

function list(call: Call, resource: ResourceType, items: readonly Wire[]): unknown {
  const { many } = resource.spec;
  const matching = filterItems(call, resource, items);
  const isSortable = (key: string) => key === 'id' || Object.hasOwn(resource.fields, key);
  // The newest resource is first, even if several resources have the same timestamp.
  const sortedItems = sortItems([...matching].reverse(), sortKeys(call, isSortable));
  const limit = Math.min(call.number('limit') ?? MAX_PAGE_SIZE, MAX_PAGE_SIZE);
  const requestedPage = pageAfter(sortedItems, { limit, marker: call.text('marker'), offset: call.number('offset') });
  if (!requestedPage) throw resource.style.errors.notFound(resource, String(call.text('marker')), call, 'list');
  const { page, last } = requestedPage;
  const isFullPage = call.query.has('limit') && limit > 0 && page.length === limit;
  return {
    [many]: page,
    ...(isFullPage && last !== undefined && { [linksKeyOf(many)]: [{ rel: 'next', href: pageUrl(call, last) }] }),
    ...(call.flag('with_count') && isAtLeast(call, 45) && { count: matching.length }),
  };
}

/** The conventions of the volume API, version 3. */
export const volumeStyle: Style = {
  service: 'volume',
  root: '/v3',
  change: 'put',
  statuses: { create: 202, remove: 202 },
  newId: randomUUID,
  unknownFields: 'reject',
  readOnlyFields: 'reject',
  bulk: false,
  admin: [],

  authorize: (call, resource, verb, _doc, policy) => authorizeVerb(call, resource, verb, policy),
  authorizeFields() {},
  stamp(call, resource, doc, before) {
    const now = formatMicros(call.cloud.clock.now());
    const { project_id } = resource.fields;
    return {
      ...doc,
      ...(!before && project_id && { project_id: call.caller.projectId }),
      ...(!before && { created_at: now }),
      updated_at: before ? now : null,
    };
  },
  show: (_call, _resource, wire) => wire,
  minor: minorOf,
  detailedLists: true,
  list,

  errors: {
    noBody: ({ spec }) => badRequest(`'${spec.one}' is a required property`),
    unknown: (_resource, keys) =>
      badRequest(
        `Additional properties are not allowed (${keys.map((key) => `'${key}'`).join(', ')} ${keys.length > 1 ? 'were' : 'was'} unexpected)`,
      ),
    readOnly: (_resource, key) => badRequest(`Additional properties are not allowed ('${key}' was unexpected)`),
    missing: (_resource, key) => badRequest(`'${key}' is a required property`),
    invalid: (_resource, key, value, reason) =>
      badRequest(`Invalid input for field/attribute ${key}. Value: ${JSON.stringify(value)}. ${reason}`),
    notFound: ({ title, spec }, id) =>
      notFound(spec.one === 'qos_specs' ? `No such QoS spec ${id}.` : `${title} ${id} could not be found.`),
  },
};

/** Returns the links of a resource. */
export function links({ base, cloudBase, caller }: Call, path: string) {
  return [
    { rel: 'self', href: `${base}/v3/${caller.projectId}/${path}` },
    { rel: 'bookmark', href: `${cloudBase}/volume/${caller.projectId}/${path}` },
  ];
}
