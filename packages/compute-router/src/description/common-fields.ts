/** Parameters of paths that mean the same wherever they stand. */
export const commonParameters: Readonly<Record<string, string>> = {
  server_id: 'Id of the server, a UUID',
  flavor_id: 'Id of the flavor, not its name',
  image_id: 'Id of the image, a UUID',
};

/**
 * Fields and query parameters that mean the same wherever they stand and are described nowhere else, by the end of
 * their names.
 */
export const commonFields: Readonly<Record<string, string>> = {
  'query.limit':
    'Items of a page at the most. More than the API allows counts as that; the answer then has a link to the next page',
  'query.marker':
    'Id of the last item of the page before; the answer begins behind it. An id that nothing has is a 400',
  'query.offset': 'Items to leave out at the beginning of the list',
  'query.sort_key': 'Field to sort by; repeat it to sort by several, the first one counting most',
  'query.sort_dir': '`asc` or `desc`, for the sort key at the same place; the last one holds for all further keys',
  'query.changes-since': 'Only what changed at or after this time, ISO 8601; without a zone it is UTC',
  'query.changes-before': 'Only what changed at or before this time, ISO 8601; without a zone it is UTC. New in 2.66',
  links: 'Addresses at which the item is found',
  rel: '`self` for the address with the version, `bookmark` for the lasting one without it, `next` for the next page',
  href: 'The address',
  'links.type': 'Media type of what the address answers',
  created_at: 'When it was made, UTC with microseconds and without a zone',
  updated_at: 'When it last changed, UTC with microseconds and without a zone; null as long as it never did',
  deleted_at: 'When it was deleted; always null, since what is deleted is not shown',
  deleted: 'Whether it is deleted; always false, since what is deleted is not shown',
  project_id: 'Id of the project that owns it',
  tenant_id: 'Id of the project that owns it; a tenant is a project by its older name',
  user_id: 'Id of the user who made it',
  instance_uuid: 'Id of the server, a UUID',
  server_uuid: 'Id of the server, a UUID',
};
