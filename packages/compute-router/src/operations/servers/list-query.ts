import { at, breakpointsOf, type Version } from '@apistrata/microversion';
import { many, one, type Query, query, Versioned } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { refusedFrom275 } from '../../schemas/extra-parameters.js';
import type { ListFilter } from '../../schemas/list-filter.js';
import { limitText } from '../../schemas/types.js';
import { listFilters } from './list-filters.js';
import { sortKeys } from './list-sort-keys.js';

const text = one(z.string());

/** Names with this form mean internal records too. */
export const INTERNAL = /^_/;

type Filters = typeof listFilters;
type Parameters = {
  readonly [K in keyof Filters as Filters[K] extends { readonly given: unknown } ? K : never]: Filters[K] extends {
    readonly given: infer G;
  }
    ? G
    : never;
};

const parameters = Object.fromEntries(
  Object.entries<ListFilter>(listFilters).flatMap(([name, { given }]) => (given ? [[name, given]] : [])),
) as Parameters;

/** The keys that a version takes. */
const sortKey = new Versioned<string>(breakpointsOf(...Object.values(sortKeys)), (version: Version) =>
  z.enum(Object.keys(sortKeys).filter((name) => at(sortKeys[name], version) !== undefined)),
);

/** Everything that may be asked of a list of servers. */
export const serverListQuery = query(
  { limit: one(limitText), marker: text, sort_key: many(sortKey), sort_dir: many(z.string()), ...parameters },
  { extra: refusedFrom275, patterns: [[INTERNAL, text]] },
);

/** The checked parameters of a list of servers. */
export type ServerListParameters = typeof serverListQuery extends Query<infer T> ? T : never;
