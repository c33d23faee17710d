import {
  Refusal,
  type ServerFilters,
  type ServerPatternField,
  type ServerQuery,
  type ServerSort,
  statesOf,
} from '@apistrata/compute-engine';
import { at, since, type Window } from '@apistrata/microversion';
import { BadRequest } from '../../http/bad-request.js';
import type { ComputeCall } from '../../http/call.js';
import { pageSize } from '../../http/paging.js';
import type { RuleName } from '../../policy/index.js';
import { INTERNAL, idleKeys, joinFilters, type ServerListParameters } from './list-query.js';

type Name = keyof ServerListParameters;

/** Filters that everybody may use. Those that only some may use are dropped without a word when others do. */
const open = {
  reservation_id: true,
  name: true,
  status: true,
  image: true,
  flavor: true,
  ip: true,
  'changes-since': true,
  all_tenants: true,
  ip6: since('2.5', true),
  tags: since('2.26', true),
  'tags-any': since('2.26', true),
  'not-tags': since('2.26', true),
  'not-tags-any': since('2.26', true),
  'changes-before': since('2.66', true),
  locked: since('2.73', true),
  availability_zone: since('2.83', true),
  config_drive: since('2.83', true),
  key_name: since('2.83', true),
  created_at: since('2.83', true),
  launched_at: since('2.83', true),
  terminated_at: since('2.83', true),
  power_state: since('2.83', true),
  task_state: since('2.83', true),
  vm_state: since('2.83', true),
  progress: since('2.83', true),
  user_id: since('2.83', true),
  hostname: since('2.90', true),
} as const satisfies Partial<Record<Name, true | Window<true>>>;

/** Parameters that are no filters. */
const paging = ['limit', 'marker', 'sort_key', 'sort_dir'] as const satisfies readonly Name[];

/** Filters whose name is also the engine's name of what a pattern is held against. */
const patterns = [
  'name',
  'description',
  'hostname',
  'node',
  'key_name',
  'availability_zone',
  'reservation_id',
  'config_drive',
  'root_device_name',
  'kernel_id',
  'ramdisk_id',
  'launch_index',
  'locked_by',
  'access_ip_v4',
  'access_ip_v6',
  'auto_disk_config',
  'power_state',
  'progress',
  'created_at',
  'launched_at',
  'terminated_at',
  'ip',
  'ip6',
] as const satisfies readonly (Name & ServerPatternField)[];

/** Words that no status has: an empty list at first, refused later. */
const unknownStatusRefused = since('2.38', true);

/** Servers on hosts that cannot be reached appear, with the little that is known of them. */
const unreachableShown = since('2.69', true);

const YES = /^(1|t|true|on|y|yes)$/i;
const NO = /^(0|f|false|off|n|no)$/i;

/** Text that says yes or no; undefined when it says neither. */
function booleanOf(text: string): boolean | undefined {
  return YES.test(text) ? true : NO.test(text) ? false : undefined;
}

function invalidFilter(name: string): BadRequest {
  return new BadRequest(`Invalid filter field: ${name}.`);
}

/** What a list of servers is asked for, after what the caller may not ask has been dropped. Undefined: an empty list. */
export function serverQueryOf(
  call: ComputeCall,
  given: ServerListParameters,
  allProjectsRule: RuleName,
): ServerQuery | undefined {
  const allowed = allowedOf(call, given);
  const sort = sortOf(call, given);
  const allProjects = allProjectsOf(call, allowed, allProjectsRule);
  const filters = filtersOf(call, allowed, allProjects);
  if (!filters) return undefined;
  const plain = Object.keys(allowed).every((name) => name === 'all_tenants') && !paging.some((name) => name in given);
  return {
    allProjects,
    limit: pageSize(call, given.limit),
    marker: given.marker,
    sort,
    filters,
    unreachable: plain && at(unreachableShown, call.version) === true,
  };
}

function allowedOf(call: ComputeCall, given: ServerListParameters): ServerListParameters {
  const all = call.can('os_compute_api:servers:allow_all_filters');
  const allowed = Object.entries(given).filter(([name]) => {
    if (paging.includes(name as never)) return false;
    if (!all) return at(open[name as keyof typeof open], call.version) === true;
    if (joinFilters.includes(name as never) || INTERNAL.test(name)) throw invalidFilter(name);
    return true;
  });
  return Object.fromEntries(allowed);
}

function allProjectsOf(call: ComputeCall, { all_tenants: text }: ServerListParameters, rule: RuleName): boolean {
  if (text === undefined) return false;
  const wanted = text === '' ? true : booleanOf(text);
  if (wanted === undefined) throw new BadRequest(`Invalid value '${text}' for all_tenants: it is true or false.`);
  if (wanted) call.require(rule);
  return wanted;
}

function sortOf(call: ComputeCall, { sort_key: keys = [], sort_dir: directions = [] }: ServerListParameters) {
  const asked = keys.length > 0 ? keys : (['created_at'] as const);
  for (const key of ['host', 'node'] as const) {
    if (keys.includes(key) && !call.context.isAdmin) {
      throw new Refusal('FORBIDDEN', `Only administrators can sort servers by ${key}`);
    }
  }
  const unknown = directions.find((direction) => direction !== 'asc' && direction !== 'desc');
  if (unknown !== undefined) throw new BadRequest(`Unknown sort direction '${unknown}': it is asc or desc.`);
  if (directions.length > asked.length) throw new BadRequest('There are more sort directions than sort keys.');
  const idle = at(idleKeys, call.version)!;
  return asked.flatMap((key, position) => {
    const direction = directions[position] ?? directions[0] ?? 'desc';
    return idle.has(key) ? [] : [{ key, direction } as ServerSort];
  });
}

const listed = (text: string | undefined) => text?.split(',');

function filtersOf(call: ComputeCall, given: ServerListParameters, allProjects: boolean): ServerFilters | undefined {
  const statuses = given.status && statusesOf(call, given.status);
  if (statuses?.length === 0) return undefined;
  const onlyDeleted = statuses?.every((word) => word.toUpperCase() === 'DELETED');
  if (onlyDeleted && !call.context.isAdmin) {
    throw new Refusal('FORBIDDEN', 'Only administrators may list deleted servers');
  }
  const changedSince = given['changes-since'];
  const changedBefore = given['changes-before'];
  if (changedSince !== undefined && changedBefore !== undefined && changedSince > changedBefore) {
    throw new BadRequest('The value of changes-since must be less than or equal to changes-before.');
  }
  return {
    id: given.uuid,
    projectId: allProjects ? (given.project_id ?? given.tenant_id) : undefined,
    userId: given.user_id,
    imageId: given.image ?? given.image_ref,
    flavorId: given.flavor,
    host: given.host,
    vmState: statuses ? undefined : given.vm_state,
    taskState: given.task_state,
    statuses,
    locked: lockedOf(given.locked),
    patterns: patternsOf(given),
    tags: listed(given.tags),
    tagsAny: listed(given['tags-any']),
    notTags: listed(given['not-tags']),
    notTagsAny: listed(given['not-tags-any']),
    changedSince,
    changedBefore,
    deleted: onlyDeleted || (given.deleted === undefined ? undefined : booleanOf(given.deleted) === true),
    softDeleted: given.soft_deleted !== undefined && booleanOf(given.soft_deleted) === true,
  };
}

function statusesOf(call: ComputeCall, words: readonly string[]): readonly string[] {
  const known = words.filter((word) => statesOf(word).length > 0);
  if (known.length === 0 && at(unknownStatusRefused, call.version)) throw invalidFilter('status');
  return known;
}

function lockedOf(text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined;
  const locked = booleanOf(text);
  if (locked === undefined) throw new BadRequest(`Invalid value '${text}' for locked: it is true or false.`);
  return locked;
}

function patternsOf(given: ServerListParameters): ServerFilters['patterns'] {
  const aliases = {
    ...given,
    name: given.name ?? given.display_name,
    description: given.description ?? given.display_description,
  };
  return Object.fromEntries(patterns.flatMap((name) => (aliases[name] === undefined ? [] : [[name, aliases[name]]])));
}
