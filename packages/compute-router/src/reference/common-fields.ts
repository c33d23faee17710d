import { commonTexts } from './common-texts.js';

/** Path parameters that mean the same in every operation. */
export const commonParameters = {
  server_id: 'UUID of the server.',
  flavor_id: 'ID of the flavor (not its name).',
  image_id: 'UUID of the image.',
} as const;

/**
 * Fields and query parameters that mean the same in every operation, by the end of their names. The documentation of a
 * resource takes precedence.
 */
export const commonFields: Readonly<Record<string, string>> = {
  'query.limit': commonTexts.limit,
  'query.marker': commonTexts.marker,
  'query.offset': commonTexts.offset,
  'query.sort_key': commonTexts.sortKey,
  'query.sort_dir':
    'Sort direction of the sort key at the same position: `asc` or `desc`. The last value applies to the remaining keys.',
  'query.changes-since': 'Only items changed at or after this time (ISO 8601). A time without a zone is in UTC.',
  'query.changes-before': commonTexts.changesBefore,
  links: 'Links to the item.',
  rel: commonTexts.rel,
  href: commonTexts.href,
  'links.type': 'Media type of the linked resource.',
  created_at: commonTexts.createdAt,
  updated_at: commonTexts.updatedAt,
  deleted_at: commonTexts.deletedAt,
  deleted: commonTexts.deleted,
  project_id: 'ID of the project that owns the item.',
  tenant_id: 'ID of the project that owns the item. Tenant is the old name for a project.',
  user_id: 'ID of the user who created the item.',
  instance_uuid: commonTexts.serverUuid,
  server_uuid: commonTexts.serverUuid,
};
