import { randomUUID } from 'node:crypto';
import type { Call } from '../service/call.js';
import { parseComparison, parseTimestamp } from '../service/filter.js';
import { pageAfter, type SortKey, sortItems } from '../service/listing.js';
import { badRequest, notFound } from '../service/service-error.js';
import type { ResourceType, Style } from '../service/style.js';
import type { Wire } from '../service/wire.js';
import { policyError, requirePolicy } from './policies.js';

const PAGE_SIZE = 25;
const MAX_PAGE_SIZE = 1000;
const PAGING = new Set(['limit', 'marker', 'sort', 'sort_key', 'sort_dir', 'tag', 'member_status']);
const SORT_KEYS = ['name', 'status', 'container_format', 'disk_format', 'size', 'id', 'created_at', 'updated_at'];
/** The filters that accept several values, as in `in:a,b`. */
const MULTI_VALUE_FILTERS = new Set(['id', 'name', 'status', 'container_format', 'disk_format']);
const TIME_FILTERS = new Set(['created_at', 'updated_at']);
const VISIBILITIES = ['community', 'public', 'private', 'shared', 'all'];

/** Splits a list at its commas, except in quotes: `a,"b,c",d` has three values. */
function splitValues(list: string): readonly string[] {
  return [...list.matchAll(/"([^"]*)"|([^,"]+)/g)].map(([, quoted, plain = '']) => quoted ?? plain);
}

function sizeInBytes(name: string, value: string): number {
  if (/^-?\d+$/.test(value) && Number(value) >= 0) return Number(value);
  throw badRequest(`Invalid ${name} filter value: ${value}: it must be a number that is not negative`);
}

/** Validates a filter, and returns a predicate that decides whether an image matches it. */
function parseCondition(name: string, value: string): (image: Wire) => boolean {
  if (TIME_FILTERS.has(name)) {
    const condition = parseComparison(value);
    if (!condition) throw badRequest(`Unable to filter by unknown operator '${value.split(':', 1)[0]}'.`);
    const filterTime = parseTimestamp(condition.value);
    if (Number.isNaN(filterTime)) throw badRequest(`Invalid time format: ${condition.value}.`);
    return (image) => condition.holds(parseTimestamp(String(image[name])) - filterTime);
  }
  if (name === 'size_min' || name === 'size_max') {
    const filterNumber = sizeInBytes(name, value);
    return ({ size }) =>
      size !== null && (name === 'size_min' ? Number(size) >= filterNumber : Number(size) <= filterNumber);
  }
  if (name === 'visibility') {
    if (!VISIBILITIES.includes(value)) throw badRequest(`Invalid visibility value: ${value}`);
    return ({ visibility }) => value === 'all' || visibility === value;
  }
  if (name === 'protected' || name === 'os_hidden') {
    const flag = name === 'os_hidden' ? value.toLowerCase() : value;
    if (flag !== 'true' && flag !== 'false')
      throw badRequest(`Invalid value '${flag}' for '${name}' filter. Valid values are 'true' or 'false'.`);
    return (image) => String(image[name]) === flag;
  }
  if (name === 'changes-since') throw badRequest('The "changes-since" filter is no longer available on v2.');
  if (MULTI_VALUE_FILTERS.has(name) && value.startsWith('in:')) {
    const acceptedValues = splitValues(value.slice(3));
    return (image) => acceptedValues.includes(String(image[name]));
  }
  // Any other filter is the name of a property, which an image must have in order to match.
  return (image) => Object.hasOwn(image, name) && String(image[name] ?? '') === value;
}

function applyFilters({ query }: Call, items: readonly Wire[]): readonly Wire[] {
  const conditions = [...query]
    .filter(([name]) => !PAGING.has(name))
    .map(([name, value]) => parseCondition(name, value));
  const tags = query.getAll('tag').map((tag) => tag.trim());
  return items.filter(
    (item) =>
      conditions.every((holds) => holds(item)) &&
      tags.every((tag) => ((item.tags ?? []) as readonly string[]).includes(tag)),
  );
}

function parseSortKeys({ query }: Call): readonly SortKey[] {
  const checkedSortKey = (sortKey: string, direction: string): SortKey => {
    const key = sortKey.trim();
    if (!SORT_KEYS.includes(key))
      throw badRequest(`Invalid sort key: ${key}. It must be one of the following: ${SORT_KEYS.join(', ')}.`);
    if (direction !== 'asc' && direction !== 'desc') throw badRequest(`Invalid sort direction: ${direction}`);
    return { key, descending: direction === 'desc' };
  };
  const sort = query.get('sort');
  const directions = query.getAll('sort_dir').map((direction) => direction.trim());
  if (sort !== null) {
    if (query.has('sort_key') || directions.length > 0)
      throw badRequest('Old and new sorting syntax cannot be combined');
    return sort.split(',').map((part) => {
      const [key = '', direction = ''] = part.split(':', 2);
      return checkedSortKey(key, direction.trim() || 'desc');
    });
  }
  const keys = query.getAll('sort_key');
  if (directions.length > 1 && directions.length !== keys.length)
    throw badRequest('Number of sort dirs does not match the number of sort keys');
  const requestedKeys = keys.length > 0 ? keys : ['created_at'];
  return requestedKeys.map((key, index) => checkedSortKey(key, directions[index] ?? directions[0] ?? 'desc'));
}

/** Returns the page size that a list request selects. */
export function parseLimit(call: Call): number {
  const requestedLimit = call.query.get('limit');
  if (requestedLimit === null) return PAGE_SIZE;
  if (!/^-?\d+$/.test(requestedLimit)) throw badRequest('limit param must be an integer');
  if (Number(requestedLimit) < 0) throw badRequest('limit param must be positive');
  return Math.min(Number(requestedLimit), MAX_PAGE_SIZE);
}

/** Returns the path of a list page: the page after a marker, or the first page. */
export function pagePath(call: Call, path: string, marker?: string): string {
  const query = new URLSearchParams(call.query);
  query.delete('marker');
  if (marker !== undefined) query.set('marker', marker);
  return query.size > 0 ? `${path}?${query}` : path;
}

function list(call: Call, resource: ResourceType, items: readonly Wire[]): unknown {
  const { many, path } = resource.spec;
  const keys = parseSortKeys(call);
  // Images that were created in the same second are sorted by creation, in the direction of the last sort key.
  const descending = keys.at(-1)?.descending ?? true;
  const newestFirst = descending ? items : [...items].reverse();
  const sortedItems = sortItems(applyFilters(call, newestFirst), keys);
  const limit = parseLimit(call);
  const requestedPage = pageAfter(sortedItems, { limit, marker: call.text('marker') });
  if (!requestedPage) throw badRequest(`Marker ${call.text('marker')} could not be found.`);
  const { page, last } = requestedPage;
  return {
    [many]: page,
    first: pagePath(call, `/v2/${path}`),
    schema: `/v2/schemas/${many}`,
    ...(page.length === limit && last !== undefined && { next: pagePath(call, `/v2/${path}`, last) }),
  };
}

const invalid = () => badRequest('Data supplied was not valid.');

/** The conventions of the image API, version 2: no envelopes, and lists with the newest item first. */
export const imageStyle: Style = {
  service: 'image',
  root: '/v2',
  change: 'patch',
  bare: true,
  statuses: { create: 201, remove: 204 },
  newId: randomUUID,
  unknownFields: 'keep',
  readOnlyFields: 'reject',
  bulk: false,
  admin: [],

  authorize(call, resource, verb, doc, policy = verb === 'remove' ? 'delete_image' : 'modify_image') {
    if (resource.admin.includes(verb)) return requirePolicy(call, 'tasks_api_access');
    if (doc && !call.hasRole('reader')) throw imageStyle.errors.notFound(resource, doc.id, call, verb);
    if (!call.hasRole('reader')) throw policyError('get_images');
    if (doc && verb !== 'show') requirePolicy(call, policy, doc.owner);
  },
  authorizeFields() {},
  stamp: (_call, _resource, doc) => doc,
  show: (_call, _resource, wire) => wire,
  list,

  // The image routes validate request bodies before the common code reads them.
  errors: {
    noBody: invalid,
    unknown: invalid,
    readOnly: invalid,
    missing: invalid,
    invalid,
    notFound: ({ spec }, id) => notFound(`Could not find ${spec.one} ${id}`),
  },
};
