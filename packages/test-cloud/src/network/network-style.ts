import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import type { Call } from '../service/call.js';
import { filterByTags, TAG_FILTERS } from '../service/filter.js';
import { filterByQuery, type SortKey, sortItems } from '../service/listing.js';
import { hasRequiredRole } from '../service/required-role.js';
import { badRequest, forbidden, ServiceError } from '../service/service-error.js';
import type { ResourceNames, ResourceType, Style, Verb } from '../service/style.js';
import { formatSeconds } from '../service/times.js';
import type { Wire } from '../service/wire.js';
import { missingResource, networkError } from './network-errors.js';
import { invalidInputError as invalidInput } from './provider-attributes.js';
import { isShared } from './sharing.js';

const PAGING_PARAMETERS = new Set(['fields', 'sort_key', 'sort_dir', 'limit', 'marker', 'page_reverse']);

export const invalidRequest = (message: string) => badRequest(message, 'HTTPBadRequest');

const quote = (value: unknown) => `'${typeof value === 'string' ? value : JSON.stringify(value)}'`;

/** Matches the error reasons of values that cannot be converted. Neutron has a different error message for these. */
const CONVERSION_REASON = / (converted|integer|target)\b/;

/** Returns the reason why a value is invalid, in the words of Neutron's validators. */
function reasonOf({ code, ...issue }: z.core.$ZodRawIssue): string {
  if (code === 'too_big' && issue.origin === 'string') return `exceeds maximum length of ${issue.maximum}`;
  if (code === 'invalid_type' && issue.expected === 'string') return 'is not a valid string';
  return code === 'invalid_value' ? 'is not in valid_values' : 'is not valid';
}

/** Returns a 400 error for a value that a field's schema rejects. */
export const invalidValue = (key: string, value: unknown, reason = 'is not valid') =>
  invalidRequest(`Invalid input for ${key}. Reason: ${quote(value)} ${reason}.`);

const quoteNames = (names: readonly string[]) => `[${names.map((name) => `'${name}'`).join(', ')}]`;

/** Returns whether a query parameter is a filter of the resource's list. */
function isFilter({ fields, spec }: ResourceType, name: string): boolean {
  if (spec.tags && name in TAG_FILTERS) return true;
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
  return field !== undefined && field.filter !== false && field.filter !== 'sort';
}

/** Returns whether a list can be sorted by a field. */
function isSortKey({ fields }: ResourceType, name: string): boolean {
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
  return field !== undefined && (field.filter === undefined || field.filter === 'sort');
}

/** Rejects filter values that cannot be converted to the type of the filtered field. */
function checkFilters({ query }: Call, resource: ResourceType, names: readonly string[]): void {
  for (const name of names)
    for (const value of query.getAll(name)) {
      const reason = resource.fields[name]?.schema?.safeParse(value, { error: reasonOf }).error?.issues[0]?.message;
      if (reason !== undefined && CONVERSION_REASON.test(reason)) throw invalidInput(`${quote(value)} ${reason}`);
    }
}

const isHidden = ({ isAdmin }: Call, { fields }: ResourceType, name: string) =>
  !isAdmin && fields[name]?.admin === 'read';

function filterItems(call: Call, resource: ResourceType, items: readonly Wire[]): readonly Wire[] {
  const parameters = [...new Set(call.query.keys())].filter((name) => !PAGING_PARAMETERS.has(name));
  const unexpected = parameters.filter((name) => !isFilter(resource, name));
  if (unexpected.length > 0) throw invalidRequest(`${quoteNames(unexpected)} is invalid attribute for filtering`);
  checkFilters(call, resource, parameters);
  const { fields } = resource;
  const plainFilters = parameters.filter(
    (name) =>
      !(name in TAG_FILTERS) &&
      name !== 'fixed_ips' &&
      fields[name]?.filter !== 'storage' &&
      !isHidden(call, resource, name),
  );
  return filterByTags(
    filterByFixedIps(filterByQuery(items, call.query, plainFilters), call.query.getAll('fixed_ips')),
    call.query,
  );
}

/**
 * Filters ports by `ip_address=`, `subnet_id=` and `ip_address_substr=`. A port must match every key in the query; if a
 * key has several values, one match is enough.
 */
function filterByFixedIps(items: readonly Wire[], values: readonly string[]): readonly Wire[] {
  if (values.length === 0) return items;
  const conditions = values.map((text) => text.split('=', 2) as [string, string | undefined]);
  const filterKeys = new Set(conditions.map(([kind]) => kind));
  return items.filter(({ fixed_ips }) =>
    [...filterKeys].every((kind) =>
      conditions.some(
        ([name, value = '']) =>
          name === kind &&
          (fixed_ips as readonly Wire[]).some((fixedIp) =>
            kind === 'ip_address_substr' ? String(fixedIp.ip_address).includes(value) : String(fixedIp[kind]) === value,
          ),
      ),
    ),
  );
}

function parseSortKeys({ query }: Call, resource: ResourceType): readonly SortKey[] {
  const keys = query.getAll('sort_key').filter(Boolean);
  const directions = query.getAll('sort_dir').filter(Boolean);
  if (keys.length !== directions.length) throw invalidRequest('The number of sort_keys and sort_dirs must be same');
  const unexpected = keys.filter((key) => !isSortKey(resource, key));
  if (unexpected.length > 0) throw invalidRequest(`${quoteNames(unexpected)} is invalid attribute for sort_keys`);
  const invalidDirections = directions.filter((direction) => direction !== 'asc' && direction !== 'desc');
  if (invalidDirections.length > 0)
    throw invalidRequest(
      `${quoteNames(invalidDirections)} is invalid value for sort_dirs, valid value is 'asc' and 'desc'`,
    );
  return keys.map((key, index) => ({ key, descending: directions[index] === 'desc' }));
}

function limitOf({ query }: Call): number {
  const writtenLimit = query.get('limit') || '0';
  if (!/^\d+$/.test(writtenLimit))
    throw badRequest(
      `Bad limit request: Limit must be an integer 0 or greater and not '${writtenLimit}'.`,
      'BadRequest',
    );
  return Number(writtenLimit);
}

function listResponse(call: Call, resource: ResourceType, items: readonly Wire[]): unknown {
  const { many } = resource.spec;
  const readableItems = items.filter((item) => isReadable(call, item));
  const sortedItems = sortItems(filterItems(call, resource, readableItems), parseSortKeys(call, resource));
  const limit = limitOf(call);
  const shown = (page: readonly Wire[]) => page.map((item) => selectFields(call, item));
  if (limit === 0) return { [many]: shown(sortedItems) };
  const reverse = call.query.get('page_reverse')?.toLowerCase() === 'true';
  const marker = call.text('marker');
  const markerIndex = marker === undefined ? -1 : sortedItems.findIndex(({ id }) => id === marker);
  // As in Neutron, a list ignores the marker if the caller cannot see the resource.
  const index = markerIndex < 0 ? undefined : markerIndex;
  const end = reverse ? (index ?? sortedItems.length) : Math.min(sortedItems.length, (index ?? -1) + 1 + limit);
  const page = sortedItems.slice(reverse ? Math.max(0, end - limit) : (index ?? -1) + 1, end);
  const isFullPage = page.length >= limit;
  const links = [
    ...(isFullPage || reverse ? [{ rel: 'next', href: pageLink(call, page.at(-1), false) }] : []),
    ...(isFullPage || !reverse ? [{ rel: 'previous', href: pageLink(call, page[0], true) }] : []),
  ];
  return { [many]: shown(page), [`${many}_links`]: links };
}

function pageLink(call: Call, item: Wire | undefined, reverse: boolean): string {
  const query = new URLSearchParams(call.query);
  query.delete('marker');
  query.delete('page_reverse');
  if (item) query.set('marker', String(item.id));
  if (reverse) query.set('page_reverse', 'True');
  return `${call.cloudBase}${call.req.originalUrl.split('?')[0]}?${query}`;
}

/** Returns the fields that the query parameter `fields` selects; all fields if the parameter is missing. */
export function selectFields(call: Call, item: Wire): Wire {
  const names = call.query.getAll('fields').filter(Boolean);
  return names.length === 0 ? item : Object.fromEntries(Object.entries(item).filter(([key]) => names.includes(key)));
}

/** Returns a 403 error for a policy rule that the caller does not satisfy. */
export const notAllowedError = (rule: string) =>
  forbidden(`(rule:${rule}) is disallowed by policy`, 'PolicyNotAuthorized');
const POLICY_VERBS = { list: 'get', show: 'get', create: 'create', change: 'update', remove: 'delete' } as const;

/** Returns the name of the policy for a verb of a resource type. */
export const policyFor = (verb: Verb, { one, policyName = one }: Pick<ResourceNames, 'one' | 'policyName'>) =>
  `${POLICY_VERBS[verb]}_${policyName}`;

/** Returns whether the caller may read a resource. Callers without a project role may read only shared resources. */
const isReadable = (call: Call, wire: Wire) =>
  call.hasRole('reader') || isShared(call, wire) || wire['router:external'] === true;

/** The API conventions of the network service, version 2.0. */
export const networkStyle: Style = {
  service: 'network',
  root: '/v2.0',
  change: 'put',
  statuses: { create: 201, remove: 204 },
  newId: randomUUID,
  unknownFields: 'reject',
  readOnlyFields: 'reject',
  bulk: true,
  authorizesLast: true,
  admin: [],

  authorize(call, resource, verb, doc, policy) {
    if (call.isAdmin) return;
    const { spec, admin: adminVerbs } = resource;
    const { storageAuthorizes = [] } = spec;
    const rule = policy ?? policyFor(verb, spec);
    const isForeign = doc?.project_id !== undefined && doc.project_id !== call.caller.projectId;
    if (verb === 'change' && isForeign && spec.hidesSharedOnChange) throw missingResource(resource.title, doc.id);
    if (adminVerbs.includes(verb)) throw notAllowedError(rule);
    if (doc && !isReadable(call, doc)) throw networkError('HTTPNotFound', 'The resource could not be found.');
    const isRead = verb === 'list' || verb === 'show';
    if (!isRead && !hasRequiredRole(call, resource, verb)) throw notAllowedError(rule);
    if (storageAuthorizes.includes(verb)) return;
    if ((verb === 'change' || verb === 'remove') && isForeign) throw notAllowedError(rule);
  },

  authorizeFields(call, { spec, fields }, verb, requested) {
    const { project_id, tenant_id } = requested;
    if (project_id !== undefined && tenant_id !== undefined && project_id !== tenant_id)
      throw invalidRequest("'project_id' and 'tenant_id' do not match");
    if (call.isAdmin) return;
    const owner = requested.project_id ?? requested.tenant_id;
    if (verb === 'create' && owner !== undefined && owner !== call.caller.projectId)
      throw invalidRequest(
        "Specifying 'project_id' or 'tenant_id' other than the authenticated project in request requires admin privileges",
      );
    const reservedEntry = Object.entries(requested).find(([key, value]) => {
      const field = fields[key];
      // A request that creates a resource may set a reserved field to its default value.
      const isReserved = field?.admin !== undefined || (field?.manager === true && !call.hasRole('manager'));
      return isReserved && !(verb === 'create' && value === field.initial);
    });
    if (reservedEntry) throw notAllowedError(`${policyFor(verb, spec)}:${reservedEntry[0]}`);
  },

  isShared,

  matchesHiddenFields(call, resource, doc) {
    const hidden = [...new Set(call.query.keys())].filter((name) => isHidden(call, resource, name));
    return filterByQuery([doc], call.query, hidden).length > 0;
  },

  stamp(call, { spec, fields }, doc, before) {
    const now = formatSeconds(call.cloud.clock.now());
    const { tenant_id, project_id = tenant_id, ...rest } = doc;
    if (spec.storage) return before ? doc : { ...rest, project_id: project_id ?? call.caller.projectId };
    const setsOwner = Object.hasOwn(fields, 'project_id') && !before;
    const owner = project_id ?? call.caller.projectId;
    return {
      ...rest,
      ...(setsOwner && { project_id: owner, tenant_id: owner }),
      ...(!before && { created_at: now }),
      updated_at: now,
      revision_number: before ? Number(before.revision_number) + 1 : 0,
    };
  },

  show: (call, { spec }, wire) => {
    const { revision, shared_with, ...rest } = wire;
    const fields = spec.tags ? { tags: [], ...rest } : rest;
    const shown = shared_with === undefined ? fields : { ...fields, shared: isShared(call, wire) };
    return typeof revision === 'number'
      ? { ...shown, revision_number: revisionNumber(call, String(wire.id), revision) }
      : shown;
  },

  list: listResponse,
  reasons: reasonOf,
  selected: selectFields,

  precondition(call, _resource, shown) {
    const tags = (call.req.header('if-match') ?? '').split(',').map((tag) => tag.trim().replace(/^"(.*)"$/, '$1'));
    const [tag, ...others] = tags.filter((tag) => tag.startsWith('revision_number='));
    if (tag === undefined) return;
    const badIfMatch = (message: string) => badRequest(`Bad if-match request: ${message}`, 'BadRequest');
    if (others.length > 0) throw badIfMatch('Multiple revision_number etags are not supported.');
    const number = tag.slice('revision_number='.length);
    if (!/^\d+$/.test(number)) throw badIfMatch('Revision number etag must be in the format of revision_number=<int>.');
    if (Number(number) === shown.revision_number) return;
    throw new ServiceError(
      412,
      `Constrained to ${number}, but current revision is ${shown.revision_number}`,
      'RevisionNumberConstraintFailed',
    );
  },

  errors: {
    noBody: ({ spec }) => invalidRequest(`Unable to find '${spec.one}' in request body`),
    unknown: (_resource, keys) => invalidRequest(`Unrecognized attribute(s) '${keys.join(', ')}'`),
    readOnly: (_resource, key, verb) =>
      invalidRequest(
        verb === 'create' ? `Attribute '${key}' not allowed in POST` : `Cannot update read-only attribute ${key}`,
      ),
    missing: (_resource, key) => invalidRequest(`Failed to parse request. Required attribute '${key}' not specified`),
    invalid: (_resource, key, value, reason) =>
      CONVERSION_REASON.test(reason) ? invalidInput(`${quote(value)} ${reason}`) : invalidValue(key, value, reason),
    notFound: ({ title }, id) => missingResource(title, id),
  },
};

interface KnownRevision {
  readonly revision: number;
  readonly number: number;
}

/**
 * Returns a resource's revision number. Clients expect small increasing numbers, but the catalog's revisions are
 * random, so each new revision increments the number.
 */
function revisionNumber(call: Call, id: string, revision: number): number {
  const table = call.cloud.documents.table<KnownRevision>('network/revisions');
  const knownRevision = table.get(id);
  if (knownRevision?.revision === revision) return knownRevision.number;
  const number = knownRevision ? knownRevision.number + 1 : 1;
  table.set(id, { revision, number });
  return number;
}
