import { Rejection } from '@apistrata/compute-engine';
import { type ServerFilters, type ServerQuery, type ServerSort, statesOf } from '@apistrata/compute-engine/api';
import { at, since } from '@apistrata/microversion';
import type { ComputeCall } from '../../http/call.js';
import { pageSize } from '../../http/paging.js';
import type { RuleName } from '../../policy/index.js';
import type { ListFilter } from '../../schemas/list-filter.js';
import { listFilters } from './list-filters.js';
import { INTERNAL_NAME, type ServerListParameters } from './list-query.js';
import { sortKeys } from './list-sort-keys.js';

type Name = keyof ServerListParameters;

/** Query parameters for pagination and sorting, which are not filters. */
const pagingParameters: ReadonlySet<string> = new Set(['limit', 'marker', 'sort_key', 'sort_dir'] satisfies Name[]);

const findFilter = (name: string): ListFilter | undefined =>
  Object.hasOwn(listFilters, name) ? listFilters[name as keyof typeof listFilters] : undefined;

/** Since 2.38, a filter with an unknown status is rejected. Until 2.37, the list is empty. */
const rejectsUnknownStatus = since('2.38', true);

/** Since 2.69, the list contains servers on unreachable hosts, with the fields that are known. */
const listsUnreachable = since('2.69', true);

const TRUE_PATTERN = /^(1|t|true|on|y|yes)$/i;
const FALSE_PATTERN = /^(0|f|false|off|n|no)$/i;

/** Parses a boolean. Returns undefined if the text is not a boolean. */
function parseBoolean(text: string): boolean | undefined {
  return TRUE_PATTERN.test(text) ? true : FALSE_PATTERN.test(text) ? false : undefined;
}

function invalidFilterError(name: string): Rejection {
  return new Rejection('BAD_REQUEST', `Invalid filter field: ${name}.`);
}

/**
 * Converts a server list's query parameters to an engine query. Filters that the caller is not allowed to use are
 * ignored. Returns undefined if no server can match.
 */
export function serverQueryOf(
  call: ComputeCall,
  parameters: ServerListParameters,
  allProjectsRule: RuleName,
): ServerQuery | undefined {
  const allowedFilters = allowedFiltersOf(call, parameters);
  const sort = sortOf(call, parameters);
  const allProjects = allProjectsOf(call, allowedFilters, allProjectsRule);
  const names = Object.keys(allowedFilters);
  const filters = names.length > 0 ? filtersOf(call, allowedFilters, allProjects) : {};
  if (!filters) return undefined;
  const hasNoFilter = names.every((name) => name === 'all_tenants');
  const isPaged = Object.keys(parameters).some((name) => pagingParameters.has(name));
  return {
    allProjects,
    limit: pageSize(call, parameters.limit),
    marker: parameters.marker || undefined,
    sort,
    filters,
    unreachable: hasNoFilter && !isPaged && at(listsUnreachable, call.version) === true,
  };
}

function allowedFiltersOf(call: ComputeCall, parameters: ServerListParameters): ServerListParameters {
  const canUseAllFilters = call.can('os_compute_api:servers:allow_all_filters');
  const allowedFilters = Object.entries(parameters).filter(([name]) => {
    if (pagingParameters.has(name)) return false;
    const filter = findFilter(name);
    if (!canUseAllFilters) return at(filter?.forEveryone, call.version) === true;
    if (filter?.internal || INTERNAL_NAME.test(name)) throw invalidFilterError(name);
    return true;
  });
  return Object.fromEntries(allowedFilters);
}

function allProjectsOf(call: ComputeCall, { all_tenants: text }: ServerListParameters, rule: RuleName): boolean {
  if (text === undefined) return false;
  const requested = text === '' ? true : parseBoolean(text);
  if (requested === undefined)
    throw new Rejection('BAD_REQUEST', `Invalid value '${text}' for all_tenants: it must be true or false.`);
  if (requested) call.require(rule);
  return requested;
}

function sortOf(call: ComputeCall, { sort_key: keys = [], sort_dir: directions = [] }: ServerListParameters) {
  const requested = keys.length > 0 ? keys : ['created_at'];
  for (const key of ['host', 'node'] as const) {
    if (keys.includes(key) && !call.context.isAdmin) {
      throw new Rejection('FORBIDDEN', `Only administrators can sort servers by ${key}`);
    }
  }
  const unknownDirection = directions.find((direction) => direction !== 'asc' && direction !== 'desc');
  if (unknownDirection !== undefined)
    throw new Rejection('BAD_REQUEST', `Unknown sort direction '${unknownDirection}': it must be asc or desc.`);
  if (directions.length > requested.length)
    throw new Rejection('BAD_REQUEST', 'There are more sort directions than sort keys.');
  return requested.flatMap((name, position): readonly ServerSort[] => {
    const direction = (directions[position] ?? directions[0] ?? 'desc') as ServerSort['direction'];
    const key = at(sortKeys[name], call.version);
    return key ? [{ key, direction }] : [];
  });
}

function filtersOf(
  call: ComputeCall,
  parameters: ServerListParameters,
  allProjects: boolean,
): ServerFilters | undefined {
  const statuses = parameters.status && statusesOf(call, parameters.status);
  if (statuses?.length === 0) return undefined;
  const onlyDeleted = statuses?.every((status) => status.toUpperCase() === 'DELETED');
  if (onlyDeleted && !call.context.isAdmin) {
    throw new Rejection('FORBIDDEN', 'Only administrators may list deleted servers');
  }
  const changedSince = parameters['changes-since'];
  const changedBefore = parameters['changes-before'];
  if (changedSince !== undefined && changedBefore !== undefined && changedSince > changedBefore) {
    throw new Rejection('BAD_REQUEST', 'The value of changes-since must be less than or equal to changes-before.');
  }
  const { vmState, ...plain } = plainFiltersOf(parameters);
  return {
    ...plain,
    projectId: allProjects ? (parameters.project_id ?? parameters.tenant_id) : undefined,
    vmState: statuses ? undefined : vmState,
    statuses,
    locked: lockedOf(parameters.locked),
    changedSince,
    changedBefore,
    deleted: onlyDeleted || (parameters.deleted === undefined ? undefined : parseBoolean(parameters.deleted) === true),
    softDeleted: parameters.soft_deleted !== undefined && parseBoolean(parameters.soft_deleted) === true,
  };
}

/** Query parameters that correspond directly to an engine filter: a string, a list, or a pattern. */
const plainFilters = Object.entries<ListFilter>(listFilters).filter(
  ([, { pattern, text, list }]) => pattern || text || list,
);

/** Converts query parameters to engine filters, as defined by `listFilters`. */
function plainFiltersOf(parameters: ServerListParameters): ServerFilters {
  const patterns: Record<string, string> = {};
  const filters: Record<string, unknown> = {};
  for (const [name, { pattern, text, list }] of plainFilters) {
    const value = parameters[name as Name];
    if (typeof value !== 'string') continue;
    if (pattern) patterns[pattern] ??= value;
    if (text) filters[text] ??= value;
    if (list) filters[list] ??= value.split(',');
  }
  return { ...filters, patterns };
}

function statusesOf(call: ComputeCall, requested: readonly string[]): readonly string[] {
  const knownStatuses = requested.filter((status) => statesOf(status).length > 0);
  if (knownStatuses.length === 0 && at(rejectsUnknownStatus, call.version)) throw invalidFilterError('status');
  return knownStatuses;
}

function lockedOf(text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined;
  const locked = parseBoolean(text);
  if (locked === undefined)
    throw new Rejection('BAD_REQUEST', `Invalid value '${text}' for locked: it must be true or false.`);
  return locked;
}
