import type { ComputeCall, Link } from './call.js';

/** Returns the page size: the requested limit or the configured maximum, whichever is lower. */
export function pageSize(call: ComputeCall, limit: number | undefined): number {
  return Math.min(limit ?? call.maxLimit, call.maxLimit);
}

/**
 * Returns the link to the next page if this page is full and its size is not 0. The link contains the same query
 * parameters in sorted order, with the new marker.
 */
export function nextLink<T>(
  call: ComputeCall,
  size: number,
  items: readonly T[],
  markerOf: (item: T) => string,
): readonly Link[] | undefined {
  const lastItem = items.length < size ? undefined : items.at(-1);
  if (size === 0 || lastItem === undefined) return undefined;
  const [path, query = ''] = (call.req.url ?? '').split('?', 2);
  const params = new URLSearchParams(query);
  params.set('marker', markerOf(lastItem));
  params.sort();
  return [{ rel: 'next', href: `${call.base}${path}?${params}` }];
}
