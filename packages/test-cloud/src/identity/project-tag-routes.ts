import { z } from 'zod';
import type { Call } from '../service/call.js';
import type { Resource } from '../service/resource.js';
import { created, del, get, noContent, put, type Route } from '../service/route.js';
import { badRequest, notFound } from '../service/service-error.js';
import type { Action } from './policies.js';
import { authorizeById } from './record-policy.js';

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
  const findTags = async (call: Call, action: Action) => {
    const id = call.param('id');
    authorizeById(call, action, 'projects', id);
    const doc = await resource.storage.get(call, id);
    if (!doc) throw notFound(`Could not find project: ${id}.`);
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
  async function writeTags(call: Call, action: Action, change: (before: readonly string[], tag: string) => unknown) {
    const { doc, tags, tag } = await findTags(call, action);
    const checkedTags = Tags.safeParse(change(tags, tag));
    if (!checkedTags.success)
      throw badRequest(`Invalid input for field 'tags': ${checkedTags.error.issues[0]?.message}`);
    await resource.apply(call, doc, { tags: checkedTags.data });
    return checkedTags.data;
  }

  return [
    get(tagsPath, async (call) => tagsBody(call, (await findTags(call, 'list_project_tags')).tags)),
    put(tagsPath, async (call) =>
      tagsBody(call, await writeTags(call, 'update_project_tags', () => call.req.body?.tags)),
    ),
    del(tagsPath, async (call) => {
      await writeTags(call, 'delete_project_tags', () => []);
      return noContent();
    }),
    get(tagPath, async (call) => {
      const { tags, tag } = await findTags(call, 'get_project_tag');
      requireTag(tags, tag);
      return noContent();
    }),
    put(tagPath, async (call) => {
      await writeTags(call, 'create_project_tag', (tags, tag) => [...new Set([...tags, tag])]);
      return created(undefined);
    }),
    del(tagPath, async (call) => {
      await writeTags(call, 'delete_project_tag', (tags, tag) => {
        requireTag(tags, tag);
        return tags.filter((other) => other !== tag);
      });
      return noContent();
    }),
  ];
}
