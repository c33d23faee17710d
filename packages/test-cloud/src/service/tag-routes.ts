import { z } from 'zod';
import type { Call } from './call.js';
import type { Resource } from './resource.js';
import { created, del, get, noContent, post, put, type Route } from './route.js';
import { badRequest, notFound } from './service-error.js';

const MAX_TAGS = 50;
const Tag = z.string().min(1).max(255);
const Tags = z.object({
  tags: z
    .array(z.string().max(255))
    .refine((tags) => new Set(tags).size === tags.length, 'is not a list or is not unique'),
});

/**
 * Returns the routes for a resource's tags: for one tag and for all tags.
 *
 * @param collection the path of the resources below the root; default: the path in the specification
 */
export function tagRoutes(resource: Resource, collection = resource.spec.path): readonly Route[] {
  const path = `${resource.style.root}/${collection}/:id/tags`;

  async function tagsOf(call: Call): Promise<readonly string[]> {
    const shown = await resource.show(call, await resource.find(call, call.param('id')));
    return (shown.tags ?? []) as readonly string[];
  }

  async function storeTags(call: Call, tags: readonly string[]): Promise<void> {
    const uniqueTags = [...new Set(tags)];
    if (uniqueTags.length > MAX_TAGS)
      throw badRequest(`The number of tags exceed the per-resource limit of ${MAX_TAGS}`, 'BadRequest');
    await resource.apply(call, await resource.find(call, call.param('id'), 'change'), { tags: uniqueTags });
  }

  async function storeRequestedTags(call: Call, others: readonly string[]) {
    const { tags } = call.body(Tags);
    await storeTags(call, [...others, ...tags]);
    return { tags };
  }

  function tagOf(call: Call): string {
    const validatedTags = Tag.safeParse(call.param('tag'));
    if (!validatedTags.success)
      throw badRequest(`Invalid tag: ${validatedTags.error.issues[0]?.message}`, 'InvalidInput');
    return validatedTags.data;
  }

  return [
    get(path, async (call) => ({ tags: await tagsOf(call) })),
    put(path, (call) => storeRequestedTags(call, [])),
    // As in Neutron, the response contains only the tags in the request.
    post(path, async (call) => storeRequestedTags(call, await tagsOf(call))),
    del(path, async (call) => {
      await storeTags(call, []);
      return noContent();
    }),
    get(`${path}/:tag`, async (call) => {
      if (!(await tagsOf(call)).includes(tagOf(call)))
        throw notFound(`Tag ${call.param('tag')} could not be found.`, 'TagNotFound');
      return noContent();
    }),
    put(`${path}/:tag`, async (call) => {
      await storeTags(call, [...(await tagsOf(call)), tagOf(call)]);
      return created(undefined);
    }),
    del(`${path}/:tag`, async (call) => {
      const before = await tagsOf(call);
      if (!before.includes(tagOf(call))) throw notFound(`Tag ${call.param('tag')} could not be found.`, 'TagNotFound');
      await storeTags(
        call,
        before.filter((tag) => tag !== call.param('tag')),
      );
      return noContent();
    }),
  ];
}
