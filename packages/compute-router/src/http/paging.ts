import type { ComputeCall, Link } from './call.js';

/** How many items a page has: what was asked for, never more than the deployment allows. */
export function pageSize(call: ComputeCall, limit: number | undefined): number {
  return Math.min(limit ?? call.maxLimit, call.maxLimit);
}

/**
 * The link to the next page: there exactly when this page is full (and not of size 0). It repeats the query, keys
 * sorted, with the new marker.
 */
export function nextLink<T>(
  call: ComputeCall,
  size: number,
  items: readonly T[],
  markerOf: (item: T) => string,
): readonly Link[] | undefined {
  const last = items.length < size ? undefined : items.at(-1);
  if (size === 0 || last === undefined) return undefined;
  const [path, query = ''] = (call.req.url ?? '').split('?', 2);
  const params = new URLSearchParams(query);
  params.set('marker', markerOf(last));
  params.sort();
  return [{ rel: 'next', href: `${call.base}${path}?${params}` }];
}
