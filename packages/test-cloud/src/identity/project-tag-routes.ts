import { z } from 'zod';
import type { Call } from '../service/call.js';
import type { Resource } from '../service/resource.js';
import { created, del, get, noContent, put, type Route } from '../service/route.js';
import { badRequest, notFound } from '../service/service-error.js';

const Tag = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[^,/]*$/);

/** The tags of a project or domain. */
export const Tags = z
  .array(Tag)
  .max(80)
  .refine((tags) => new Set(tags).size === tags.length, 'has non-unique elements');

/** Returns the routes for project tags. */
export function projectTagRoutes(resource: Resource): readonly Route[] {
  const path = '/v3/projects/:id/tags';
  const one = `${path}/:tag`;
  const find = async (call: Call, verb: 'show' | 'change') => {
    const doc = await resource.find(call, call.param('id'), verb);
    return { doc, tags: (doc.tags ?? []) as readonly string[], tag: call.param('tag') };
  };
  const body = (call: Call, tags: readonly string[]) => ({
    tags,
    links: { self: `${call.cloudBase}${call.req.originalUrl}` },
  });
  const requireTag = (tags: readonly string[], tag: string) => {
    if (!tags.includes(tag)) throw notFound(`Could not find project tag: ${tag}.`);
  };

  /** Validates and stores the changed tags of a project. */
  async function write(call: Call, change: (before: readonly string[], tag: string) => unknown) {
    const { doc, tags, tag } = await find(call, 'change');
    const checked = Tags.safeParse(change(tags, tag));
    if (!checked.success) throw badRequest(`Invalid input for field 'tags': ${checked.error.issues[0]?.message}`);
    await resource.apply(call, doc, { tags: checked.data });
    return checked.data;
  }

  return [
    get(path, async (call) => body(call, (await find(call, 'show')).tags)),
    put(path, async (call) => body(call, await write(call, () => call.req.body?.tags))),
    del(path, async (call) => {
      await write(call, () => []);
      return noContent();
    }),
    get(one, async (call) => {
      const { tags, tag } = await find(call, 'show');
      requireTag(tags, tag);
      return noContent();
    }),
    put(one, async (call) => {
      await write(call, (tags, tag) => [...new Set([...tags, tag])]);
      return created(undefined);
    }),
    del(one, async (call) => {
      await write(call, (tags, tag) => {
        requireTag(tags, tag);
        return tags.filter((other) => other !== tag);
      });
      return noContent();
    }),
  ];
}
