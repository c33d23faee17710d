/** Descriptions of fields that have the same meaning in every resource. */
export const commonTexts = {
  serverUuid: 'UUID of the server.',
  limit:
    'Maximum number of items per page. Values above the configured maximum are reduced to it; the response then contains a link to the next page.',
  marker: 'ID of the last item of the previous page. If the ID does not exist, the response is 400.',
  sortKey: 'Field to sort by. Can be repeated to sort by several fields.',
  createdAt: 'Creation time, in UTC with microseconds and without a zone.',
  deleted: 'Always false, because deleted items are not shown.',
  deletedAt: 'Always null, because deleted items are not shown.',
  updatedAt: 'Time of the last change, in UTC with microseconds and without a zone. Null if unchanged.',
  changesBefore: 'Returns only items changed at or before this time (ISO 8601). A time without a zone is in UTC.',
  offset: 'Number of items to skip. Default: 0.',
  rel: 'Relation of the link: `self` (with the version), `bookmark` (permanent, without the version) or `next` (next page).',
  links: 'Links to the item.',
  href: 'URL of the link.',
  tenantId: 'ID of the project that owns the item. Tenant is the former name of a project.',
} as const;
