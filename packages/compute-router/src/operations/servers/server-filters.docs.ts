import type { ListFilter } from '../../schemas/list-filter.js';
import { listFilters } from './list-filters.js';

/** By what lists of servers can be filtered and sorted. What a filter is stands in its record. */
export const serverFilters: Readonly<Record<string, string>> = {
  'query.sort_key': 'Field to sort by; repeat it to sort by several. Default: when they were created',
  'query.sort_dir': '`asc` or `desc`, for the sort key at the same place. Default: `desc`',
  'query.marker': 'Id of the last server of the page before',
  ...Object.fromEntries(
    Object.entries<ListFilter>(listFilters).flatMap(([name, { words }]) => (words ? [[`query.${name}`, words]] : [])),
  ),
};
