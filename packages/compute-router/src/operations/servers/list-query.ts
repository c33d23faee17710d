import { at, breakpointsOf, type Version } from '@apistrata/microversion';
import { described, many, one, type Query, query, Versioned } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { commonTexts } from '../../reference/common-texts.js';
import { rejectedSince275 } from '../../schemas/extra-parameters.js';
import type { ListFilter } from '../../schemas/list-filter.js';
import { limitSchema } from '../../schemas/types.js';
import { listFilters } from './list-filters.js';
import { sortKeys } from './list-sort-keys.js';

const textParameter = one(z.string());

/** Matches parameter names that refer to internal data: all names that begin with an underscore. */
export const INTERNAL_NAME = /^_/;

type Filters = typeof listFilters;
type Parameters = {
  readonly [K in keyof Filters as Filters[K] extends { readonly schema: unknown } ? K : never]: Filters[K] extends {
    readonly schema: infer G;
  }
    ? G
    : never;
};

const parameters = Object.fromEntries(
  Object.entries<ListFilter>(listFilters).flatMap(([name, { schema: given }]) => (given ? [[name, given]] : [])),
) as Parameters;

/** Schema for sort keys. Which keys are allowed depends on the version. */
const sortKey = new Versioned<string>(breakpointsOf(...Object.values(sortKeys)), (version: Version) =>
  z.enum(Object.keys(sortKeys).filter((name) => at(sortKeys[name], version) !== undefined)),
);

/** Schema for the query parameters of server lists. */
export const serverListQuery = query(
  {
    limit: described(commonTexts.limit, one(limitSchema)),
    marker: described('UUID of the last server on the previous page.', textParameter),
    sort_key: described(
      'Field to sort by. Repeat the parameter to sort by several fields. Default: `created_at`.',
      many(sortKey),
    ),
    sort_dir: described(
      'Sort direction for the sort key at the same position: `asc` or `desc`. Sort keys without a direction use the first direction, or `desc` if there is none.',
      many(z.string()),
    ),
    ...parameters,
  },
  { extra: rejectedSince275, patterns: [[INTERNAL_NAME, textParameter]] },
);

/** The validated parameters of a server list. */
export type ServerListParameters = typeof serverListQuery extends Query<infer T> ? T : never;
