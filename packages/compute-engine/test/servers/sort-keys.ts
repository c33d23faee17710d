import type { ServerSortKey } from '../../src/api/index.js';

/** Sort keys that have a column, and some whose values are read from records. */
export const sortKeys: readonly ServerSortKey[] = [
  'created_at',
  'updated_at',
  'launched_at',
  'terminated_at',
  'display_name',
  'host',
  'vm_state',
  'task_state',
  'user_id',
  'project_id',
  'uuid',
  'image_ref',
  'instance_type_id',
  'locked',
  'hostname',
  'availability_zone',
  'power_state',
];
