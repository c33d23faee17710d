import type { Call } from './call.js';
import { matchesValue } from './filter.js';
import type { Wire } from './wire.js';

/** Filters items by query parameters. If a parameter is repeated, one of its values must match. */
export function filterByQuery<W extends Wire>(
  items: readonly W[],
  query: URLSearchParams,
  names: readonly string[],
): readonly W[] {
  const presentNames = [...new Set(names)].filter((name) => query.has(name));
  if (presentNames.length === 0) return items;
  return items.filter((item) =>
    presentNames.every((name) => query.getAll(name).some((value) => matchesValue(item[name], value))),
  );
}

export interface SortKey {
  readonly key: string;
  readonly descending: boolean;
}

function compareValues(left: unknown, right: unknown): number {
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  const [a, b] = [String(left ?? ''), String(right ?? '')];
  return a === b ? 0 : a < b ? -1 : 1;
}

/** Sorts items by the first key, items with equal first keys by the second, and so on. The sort is stable. */
export function sortItems<W extends Wire>(items: readonly W[], keys: readonly SortKey[]): readonly W[] {
  if (keys.length === 0) return items;
  return [...items].sort((a, b) => {
    for (const { key, descending } of keys) {
      const comparisonResult = compareValues(a[key], b[key]);
      if (comparisonResult !== 0) return descending ? -comparisonResult : comparisonResult;
    }
    return 0;
  });
}

export interface Page<W extends Wire> {
  readonly page: readonly W[];
  /** Whether the list continues after this page. */
  readonly more: boolean;
  /** The id of the last item on the page; undefined on an empty page. */
  readonly last: string | undefined;
}

/** Returns a page of at most `limit` items after the marker; undefined for an unknown marker. */
export function pageAfter<W extends Wire>(
  items: readonly W[],
  { limit, marker, offset = 0 }: { readonly limit?: number; readonly marker?: string; readonly offset?: number },
): Page<W> | undefined {
  const markerIndex = marker === undefined ? -1 : items.findIndex(({ id }) => id === marker);
  if (marker !== undefined && markerIndex < 0) return undefined;
  const startIndex = markerIndex + 1 + offset;
  const endIndex = limit === undefined ? items.length : startIndex + limit;
  const page = items.slice(startIndex, endIndex);
  const lastItem = page.at(-1);
  return { page, more: endIndex < items.length, last: lastItem && String(lastItem.id) };
}

/** Returns the URL of the requested list with a different marker. */
export function pageUrl(call: Call, marker: string): string {
  const query = new URLSearchParams(call.query);
  query.set('marker', marker);
  return `${call.cloudBase}${call.req.originalUrl.split('?')[0]}?${query}`;
}
