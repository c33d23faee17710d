import { described, one } from '@apistrata/microversion/schema';
import type { ComputeCall } from '../../http/call.js';
import { commonTexts } from '../../reference/common-texts.js';
import { nonNegativeInteger } from '../../schemas/types.js';

/** Query parameters of lists with offset pagination. */
export const offsetParameters = {
  limit: described(commonTexts.limit, one(nonNegativeInteger)),
  offset: described(commonTexts.offset, one(nonNegativeInteger)),
};

/** Returns the requested page of a list. A limit of 0 means the maximum page size. */
export function offsetPage<T>(
  { maxLimit }: ComputeCall,
  items: readonly T[],
  { limit, offset = 0 }: { readonly limit?: number; readonly offset?: number },
): readonly T[] {
  return items.slice(offset, offset + Math.min(limit || maxLimit, maxLimit));
}
