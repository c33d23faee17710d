import { z } from 'zod';
import type { Call } from '../service/call.js';
import type { Resource } from '../service/resource.js';
import { del, get, post, put, Reply, type Route } from '../service/route.js';
import { badRequest, notFound } from '../service/service-error.js';
import type { Wire } from '../service/wire.js';
import { metadata } from './wire-types.js';

/** Returns the routes for a resource's metadata: for all items and for single items. */
export function metadataRoutes(resource: Resource): readonly Route[] {
  const path = `${resource.style.root}/${resource.spec.path}/:id/metadata`;

  // Only the metadata schemas of volumes reject other keys in the body.
  const bodySchema = resource.spec.path === 'volumes' ? z.strictObject : z.object;
  const MetadataBody = bodySchema({ metadata });
  const MetadataItemBody = bodySchema({ meta: metadata });

  async function changeMetadata(
    call: Call,
    changed: (before: Readonly<Record<string, string>>) => Record<string, string>,
  ) {
    const before = await resource.find(call, call.param('id'), 'change');
    const metadata = changed(before.metadata as Record<string, string>);
    await resource.apply(call, before, { metadata });
    return metadata;
  }

  const itemNotFound = (call: Call) =>
    notFound(`${resource.title} ${call.param('id')} has no metadata with key ${call.param('key')}.`);
  return [
    get(path, async (call) => ({ metadata: (await resource.find(call, call.param('id'))).metadata })),
    post(path, async (call) => ({
      metadata: await changeMetadata(call, (before) => ({ ...before, ...call.body(MetadataBody).metadata })),
    })),
    put(path, async (call) => ({ metadata: await changeMetadata(call, () => call.body(MetadataBody).metadata) })),
    get(`${path}/:key`, async (call) => {
      const { metadata } = await resource.find(call, call.param('id'));
      const value = (metadata as Wire)[call.param('key')];
      if (value === undefined) throw itemNotFound(call);
      return { meta: { [call.param('key')]: value } };
    }),
    put(`${path}/:key`, async (call) => {
      const { meta } = call.body(MetadataItemBody);
      if (!(call.param('key') in meta) || Object.keys(meta).length !== 1)
        throw badRequest('Request body and URI mismatch');
      await changeMetadata(call, (before) => ({ ...before, ...meta }));
      return { meta };
    }),
    del(`${path}/:key`, async (call) => {
      await changeMetadata(call, ({ [call.param('key')]: removed, ...rest }) => {
        if (removed === undefined) throw itemNotFound(call);
        return rest;
      });
      return new Reply(200);
    }),
  ];
}
