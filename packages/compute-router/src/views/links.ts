import { field, type ViewField } from '@apistrata/microversion/router';
import { type Described, described } from '@apistrata/microversion/schema';
import type { ComputeCall } from '../http/call.js';
import { commonTexts } from '../reference/common-texts.js';
import * as type from '../schemas/reply-types.js';

type LinksField<R> = Described<ViewField<R, ComputeCall>>;

const toItem = <R>(links: ViewField<R, ComputeCall>): LinksField<R> => described(commonTexts.links, links);

/** The `links` of an entity below a collection: self and bookmark. */
export function linksTo<R extends { readonly id: string }>(collection: string): LinksField<R> {
  return toItem(field(type.links, ({ id }: R, call: ComputeCall) => [...call.links(`/${collection}/${id}`)] as never));
}

/** `links` with the bookmark only. */
export function bookmarkTo<R>(collection: string, idOf: (record: R) => string): LinksField<R> {
  return toItem(
    field(type.links, (record: R, call: ComputeCall) => [call.bookmark(`/${collection}/${idOf(record)}`)] as never),
  );
}
