import { one } from '@apistrata/microversion/schema';
import type { ComputeCall } from '../../http/call.js';
import { nonnegint } from '../../schemas/types.js';

/** Parameters of lists that are paged by position. */
export const offsetParameters = { limit: one(nonnegint), offset: one(nonnegint) };

/** Part of a list. A limit of 0 is none, which is as many as a page may have. */
export function offsetPage<T>(
  { maxLimit }: ComputeCall,
  items: readonly T[],
  { limit, offset = 0 }: { readonly limit?: number; readonly offset?: number },
): readonly T[] {
  return items.slice(offset, offset + Math.min(limit || maxLimit, maxLimit));
}
