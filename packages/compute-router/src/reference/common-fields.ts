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
  'query.limit':
    'Maximum number of items per page. Values above the configured maximum are reduced to it; the response then contains a link to the next page.',
  'query.marker': 'ID of the last item of the previous page. An ID that does not exist returns 400.',
  'query.offset': 'Number of items to skip. Default: 0.',
  'query.sort_key': 'Field to sort by. Can be repeated to sort by several fields.',
  'query.sort_dir':
    'Sort direction of the sort key at the same position: `asc` or `desc`. The last value applies to the remaining keys.',
  'query.changes-since': 'Only items changed at or after this time (ISO 8601). A time without a zone is in UTC.',
  'query.changes-before': 'Only items changed at or before this time (ISO 8601). A time without a zone is in UTC.',
  links: 'Links to the item.',
  rel: 'Relation of the link: `self` (with the version), `bookmark` (permanent, without the version) or `next` (next page).',
  href: 'URL of the link.',
  'links.type': 'Media type of the linked resource.',
  created_at: 'Creation time, in UTC with microseconds and without a zone.',
  updated_at: 'Time of the last change, in UTC with microseconds and without a zone. Null if unchanged.',
  deleted_at: 'Always null, because deleted items are not shown.',
  deleted: 'Always false, because deleted items are not shown.',
  project_id: 'ID of the project that owns the item.',
  tenant_id: 'ID of the project that owns the item. Tenant is the old name for a project.',
  user_id: 'ID of the user who created the item.',
  instance_uuid: 'UUID of the server.',
  server_uuid: 'UUID of the server.',
};
