import { type Described, described } from '@apistrata/microversion/schema';
import { field, type ViewField } from '@apistrata/microversion-router';
import type { ComputeCall } from '../http/call.js';
import { commonTexts } from '../reference/common-texts.js';
import * as type from '../schemas/reply-types.js';

type LinksField<R> = Described<ViewField<R, ComputeCall>>;

const describeLinks = <R>(links: ViewField<R, ComputeCall>): LinksField<R> => described(commonTexts.links, links);

/** Defines the field `links` with a `self` link and a `bookmark` link to an item in a collection. */
export function linksTo<R extends { readonly id: string }>(collection: string): LinksField<R> {
  return describeLinks(
    field(type.links, ({ id }: R, call: ComputeCall) => [...call.links(`/${collection}/${id}`)] as never),
  );
}

/** Defines the field `links` with only a `bookmark` link. */
export function bookmarkTo<R>(collection: string, idOf: (record: R) => string): LinksField<R> {
  return describeLinks(
    field(type.links, (record: R, call: ComputeCall) => [call.bookmarkLink(`/${collection}/${idOf(record)}`)] as never),
  );
}
