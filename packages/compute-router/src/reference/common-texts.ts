/** OpenAPI descriptions for fields that have the same meaning in every resource. */
export const commonTexts = {
  serverUuid: 'UUID of the server.',
  limit:
    'Maximum number of items per page. The server limits larger values to the configured maximum; the response then contains a link to the next page.',
  marker: 'ID of the last item on the previous page. If the ID does not exist, the response is 400.',
  sortKey: 'Field to sort by. Repeat the parameter to sort by several fields.',
  createdAt: 'Creation time, in UTC with microsecond precision and without a time zone designator.',
  deleted: 'Always false, because the API does not return deleted items.',
  deletedAt: 'Always null, because the API does not return deleted items.',
  updatedAt:
    'Time of the last change, in UTC with microsecond precision and without a time zone designator. Null if the item was never changed.',
  changesBefore:
    'Returns only items whose last change was at or before this time (ISO 8601). A time without a zone is in UTC.',
  offset: 'Number of items to skip. Default: 0.',
  rel: 'Link relation: `self` (URL with the version), `bookmark` (permanent URL without the version) or `next` (next page).',
  links: 'Links to the item.',
  href: 'URL of the link.',
  tenantId: 'ID of the project that owns the item. Projects were formerly called tenants.',
} as const;
