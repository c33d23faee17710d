/** OpenAPI descriptions for fields that have the same meaning in every resource. */
export const commonTexts = {
  serverUuid: 'UUID of the server.',
  limit:
    'Maximum number of items per page. The default and the upper limit are the configured page size (usually 1000).',
  marker: 'ID of the last item on the previous page. If the ID does not exist, the response is 400.',
  createdAt: 'Creation time, in UTC with microsecond precision and without a time zone designator.',
  deleted: 'Always false, because the API does not return deleted resources.',
  deletedAt: 'Always null, because the API does not return deleted resources.',
  updatedAt:
    'Time of the last change, in UTC with microsecond precision and without a time zone designator. Null if the resource was never changed.',
  changesBefore:
    'Returns only items whose last change was at or before this time (ISO 8601). A time without a zone is in UTC.',
  offset: 'Number of items to skip. Default: 0.',
  rel: 'Link relation: `self` (URL with the version), `bookmark` (permanent URL without the version) or `next` (next page).',
  links: 'Links to the resource.',
  href: 'URL of the link.',
  tenantId: 'ID of the project that owns the resource. Projects were formerly called tenants.',
} as const;
