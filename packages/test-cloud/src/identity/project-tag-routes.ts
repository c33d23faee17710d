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
  const tagsPath = '/v3/projects/:id/tags';
  const tagPath = `${tagsPath}/:tag`;
  const findTags = async (call: Call, verb: 'show' | 'change') => {
    const doc = await resource.find(call, call.param('id'), verb);
    return { doc, tags: (doc.tags ?? []) as readonly string[], tag: call.param('tag') };
  };
  const tagsBody = (call: Call, tags: readonly string[]) => ({
    tags,
    links: { self: `${call.cloudBase}${call.req.originalUrl}` },
  });
  const requireTag = (tags: readonly string[], tag: string) => {
    if (!tags.includes(tag)) throw notFound(`Could not find project tag: ${tag}.`);
  };

  /** Validates and stores the changed tags of a project. */
  async function writeTags(call: Call, change: (before: readonly string[], tag: string) => unknown) {
    const { doc, tags, tag } = await findTags(call, 'change');
    const checkedTags = Tags.safeParse(change(tags, tag));
    if (!checkedTags.success)
      throw badRequest(`Invalid input for field 'tags': ${checkedTags.error.issues[0]?.message}`);
    await resource.apply(call, doc, { tags: checkedTags.data });
    return checkedTags.data;
  }

  return [
    get(tagsPath, async (call) => tagsBody(call, (await findTags(call, 'show')).tags)),
    put(tagsPath, async (call) => tagsBody(call, await writeTags(call, () => call.req.body?.tags))),
    del(tagsPath, async (call) => {
      await writeTags(call, () => []);
      return noContent();
    }),
    get(tagPath, async (call) => {
      const { tags, tag } = await findTags(call, 'show');
      requireTag(tags, tag);
      return noContent();
    }),
    put(tagPath, async (call) => {
      await writeTags(call, (tags, tag) => [...new Set([...tags, tag])]);
      return created(undefined);
    }),
    del(tagPath, async (call) => {
      await writeTags(call, (tags, tag) => {
        requireTag(tags, tag);
        return tags.filter((other) => other !== tag);
      });
      return noContent();
    }),
  ];
}
