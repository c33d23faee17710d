import { z } from 'zod';
import type { Call } from './call.js';
import type { Doc } from './documents.js';
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

type TagAction = 'create' | 'update' | 'delete';

/**
 * Returns the routes for a resource's tags: for one tag and for all tags.
 *
 * @param collection the path of the resources below the root; default: the path in the specification
 */
export function tagRoutes(resource: Resource, collection = resource.spec.path): readonly Route[] {
  const path = `${resource.style.root}/${collection}/:id/tags`;
  const { one, policyName = one } = resource.spec;

  const findTaggable = (call: Call, action: TagAction) =>
    resource.find(call, call.param('id'), 'change', `${action}_${policyName}:tags`);

  async function tagsOf(call: Call, doc: Doc): Promise<readonly string[]> {
    return ((await resource.show(call, doc)).tags ?? []) as readonly string[];
  }

  const readTags = async (call: Call) => tagsOf(call, await resource.find(call, call.param('id')));

  async function storeTags(call: Call, doc: Doc, tags: readonly string[]): Promise<void> {
    const uniqueTags = [...new Set(tags)];
    if (uniqueTags.length > MAX_TAGS)
      throw badRequest(`The number of tags exceed the per-resource limit of ${MAX_TAGS}`, 'BadRequest');
    await resource.apply(call, doc, { tags: uniqueTags });
  }

  function tagOf(call: Call): string {
    const validatedTags = Tag.safeParse(call.param('tag'));
    if (!validatedTags.success)
      throw badRequest(`Invalid tag: ${validatedTags.error.issues[0]?.message}`, 'InvalidInput');
    return validatedTags.data;
  }

  const tagNotFound = (call: Call) => notFound(`Tag ${call.param('tag')} could not be found.`, 'TagNotFound');

  return [
    get(path, async (call) => ({ tags: await readTags(call) })),
    put(path, async (call) => {
      const { tags } = call.body(Tags);
      await storeTags(call, await findTaggable(call, 'update'), tags);
      return { tags };
    }),
    // As in Neutron, the response contains only the tags in the request.
    post(path, async (call) => {
      const { tags } = call.body(Tags);
      const doc = await findTaggable(call, 'create');
      await storeTags(call, doc, [...(await tagsOf(call, doc)), ...tags]);
      return { tags };
    }),
    del(path, async (call) => {
      await storeTags(call, await findTaggable(call, 'delete'), []);
      return noContent();
    }),
    get(`${path}/:tag`, async (call) => {
      if (!(await readTags(call)).includes(tagOf(call))) throw tagNotFound(call);
      return noContent();
    }),
    put(`${path}/:tag`, async (call) => {
      const doc = await findTaggable(call, 'update');
      await storeTags(call, doc, [...(await tagsOf(call, doc)), tagOf(call)]);
      return created(undefined);
    }),
    del(`${path}/:tag`, async (call) => {
      const doc = await findTaggable(call, 'delete');
      const before = await tagsOf(call, doc);
      if (!before.includes(tagOf(call))) throw tagNotFound(call);
      await storeTags(
        call,
        doc,
        before.filter((tag) => tag !== call.param('tag')),
      );
      return noContent();
    }),
  ];
}
