import type { ServerSortKey } from '@apistrata/compute-engine/api';
import { until, type Windowed } from '@apistrata/microversion';
import type { ListFilter } from '../../schemas/list-filter.js';
import { listFilters } from './list-filters.js';

/** Sort keys that are accepted for compatibility, but never had an effect. */
const ignoredKeys = [
  'architecture',
  'cell_name',
  'cleaned',
  'default_ephemeral_device',
  'default_swap_device',
  'deleted',
  'deleted_at',
  'disable_terminate',
  'ephemeral_gb',
  'ephemeral_key_uuid',
  'id',
  'key_data',
  'launched_on',
  'memory_mb',
  'os_type',
  'reservation_id',
  'root_gb',
  'shutdown_terminate',
  'user_data',
  'vcpus',
  'vm_mode',
];

const effectiveKeys = Object.entries<ListFilter>(listFilters).flatMap(([name, { sorts }]) =>
  sorts === undefined ? [] : [[name, sorts] as const],
);

/** The engine's sort key for each sort key in requests, or null for sort keys without effect. */
export const sortKeys: Readonly<Record<string, Windowed<ServerSortKey | null>>> = Object.fromEntries([
  ...effectiveKeys.sort(([one], [other]) => (one < other ? -1 : 1)),
  ...ignoredKeys.map((name) => [name, until('2.74', null)] as const),
]);
