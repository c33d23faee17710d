import type { ListFilter } from '../../schemas/list-filter.js';
import { listFilters } from './list-filters.js';

/** Descriptions of the query parameters of server lists; each filter is described in its own record. */
export const serverFilters: Readonly<Record<string, string>> = {
  'query.sort_key': 'Field to sort by. Can be repeated. Default: `created_at`.',
  'query.sort_dir': 'Sort direction of the sort key at the same position: `asc` or `desc`. Default: `desc`.',
  'query.marker': 'UUID of the last server of the previous page.',
  ...Object.fromEntries(
    Object.entries<ListFilter>(listFilters).flatMap(([name, { description }]) =>
      description ? [[`query.${name}`, description]] : [],
    ),
  ),
};
