import { field, type ViewField } from '@apistrata/microversion/router';
import type { ComputeCall } from '../http/call.js';
import * as type from '../schemas/reply-types.js';

/** The `links` of an entity below a collection: self and bookmark. */
export function linksTo<R extends { readonly id: string }>(collection: string): ViewField<R, ComputeCall> {
  return field(type.links, ({ id }: R, call: ComputeCall) => [...call.links(`/${collection}/${id}`)] as never);
}

/** `links` with the bookmark only. */
export function bookmarkTo<R>(collection: string, idOf: (record: R) => string): ViewField<R, ComputeCall> {
  return field(
    type.links,
    (record: R, call: ComputeCall) => [call.bookmark(`/${collection}/${idOf(record)}`)] as never,
  );
}
