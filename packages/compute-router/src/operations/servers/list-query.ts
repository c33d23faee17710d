import { at, breakpointsOf, type Version } from '@apistrata/microversion';
import { many, one, type Query, query, Versioned } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { rejectedSince275 } from '../../schemas/extra-parameters.js';
import type { ListFilter } from '../../schemas/list-filter.js';
import { limitText } from '../../schemas/types.js';
import { listFilters } from './list-filters.js';
import { sortKeys } from './list-sort-keys.js';

const text = one(z.string());

/** Names of this form refer to internal records too. */
export const INTERNAL = /^_/;

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

/** The sort keys of each version. */
const sortKey = new Versioned<string>(breakpointsOf(...Object.values(sortKeys)), (version: Version) =>
  z.enum(Object.keys(sortKeys).filter((name) => at(sortKeys[name], version) !== undefined)),
);

/** All query parameters of server lists. */
export const serverListQuery = query(
  { limit: one(limitText), marker: text, sort_key: many(sortKey), sort_dir: many(z.string()), ...parameters },
  { extra: rejectedSince275, patterns: [[INTERNAL, text]] },
);

/** The validated parameters of a server list. */
export type ServerListParameters = typeof serverListQuery extends Query<infer T> ? T : never;
