import type { z } from 'zod';
import type { Call } from '../service/call.js';
import { chosenFields, filtered, paged, sorted, type Wire } from '../service/listing.js';
import { created, del, get, noContent, post, put, type Route } from '../service/route.js';
import { notFound } from '../service/service-error.js';
import { Tags } from './network-bodies.js';

/** How one kind of resource of the network service is served. */
export interface ResourceSpec<B> {
  /** The path and the key of a list: `security-groups`, `security_groups`. */
  readonly path: string;
  readonly many: string;
  readonly one: string;
  readonly body: z.ZodType<Record<string, B>>;
  readonly change?: z.ZodType<Record<string, any>>;
  readonly list: (call: Call) => Promise<readonly Wire[]>;
  readonly show: (call: Call, id: string) => Promise<Wire>;
  readonly create: (call: Call, body: B) => Promise<Wire>;
  readonly update?: (call: Call, id: string, body: any) => Promise<Wire>;
  readonly remove: (call: Call, id: string) => Promise<unknown>;
  readonly setTags?: (call: Call, id: string, tags: readonly string[]) => Promise<unknown>;
}

/** List, create, show, update, delete and, where there are some, tags. */
export function resource<B>(spec: ResourceSpec<B>): readonly Route[] {
  const { path, many, one, body, change, list, show, create, update, remove, setTags } = spec;
  const all = `/v2.0/${path}`;
  const each = `${all}/:id`;
  const id = (call: Call) => call.param('id');

  async function tagsOf(call: Call): Promise<readonly string[]> {
    return (await show(call, id(call))).tags as readonly string[];
  }

  return [
    get(all, async (call) => {
      const { page, next } = paged(sorted(filtered(await list(call), call.query), call.query), call);
      return {
        [many]: page.map((item) => chosenFields(item, call.query)),
        ...(next && { [`${many}_links`]: [{ rel: 'next', href: next }] }),
      };
    }),
    post(all, async (call) => created({ [one]: await create(call, call.body(body)[one]!) })),
    get(each, async (call) => ({ [one]: chosenFields(await show(call, id(call)), call.query) })),
    ...(update && change
      ? [put(each, async (call: Call) => ({ [one]: await update(call, id(call), call.body(change)[one]) }))]
      : []),
    del(each, async (call) => {
      await remove(call, id(call));
      return noContent();
    }),
    ...(setTags
      ? [
          get(`${each}/tags`, async (call) => ({ tags: await tagsOf(call) })),
          put(`${each}/tags`, async (call) => {
            const { tags } = call.body(Tags);
            await setTags(call, id(call), [...new Set(tags)]);
            return { tags };
          }),
          del(`${each}/tags`, async (call) => {
            await setTags(call, id(call), []);
            return noContent();
          }),
          put(`${each}/tags/:tag`, async (call) => {
            await setTags(call, id(call), [...new Set([...(await tagsOf(call)), call.param('tag')])]);
            return created(undefined);
          }),
          get(`${each}/tags/:tag`, async (call) => {
            if (!(await tagsOf(call)).includes(call.param('tag'))) throw notFound('Tag not found', 'TagNotFound');
            return noContent();
          }),
          del(`${each}/tags/:tag`, async (call) => {
            await setTags(
              call,
              id(call),
              (await tagsOf(call)).filter((tag) => tag !== call.param('tag')),
            );
            return noContent();
          }),
        ]
      : []),
  ];
}
