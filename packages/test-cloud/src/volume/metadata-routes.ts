import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Call } from '../service/call.js';
import type { Resource } from '../service/resource.js';
import { del, get, post, put, Reply, type Route } from '../service/route.js';
import { badRequest, notFound } from '../service/service-error.js';
import type { Wire } from '../service/wire.js';
import { isAtLeast } from './volume-style.js';
import { metadata } from './wire-types.js';

type Metadata = Readonly<Record<string, string>>;

const etagOf = (metadata: Metadata) => createHash('md5').update(JSON.stringify(metadata)).digest('hex');

/** Returns whether the metadata meets the request's `If-Match` header. Like Cinder, accepts ETags without quotes. */
function isMatch(call: Call, metadata: Metadata): boolean {
  const condition = call.req.get('if-match') ?? '*';
  return condition === '*' || condition.split(',').some((tag) => tag.trim().replaceAll('"', '') === etagOf(metadata));
}

/** Returns the routes for a resource's metadata: for all items and for single items. */
export function metadataRoutes(resource: Resource): readonly Route[] {
  const path = `${resource.style.root}/${resource.spec.path}/:id/metadata`;

  const isVolume = resource.spec.path === 'volumes';
  // Only the metadata schemas of volumes reject additional keys in the body.
  const bodySchema = isVolume ? z.strictObject : z.object;
  const MetadataBody = bodySchema({ metadata });
  const MetadataItemBody = bodySchema({ meta: metadata });
  const verbs: Readonly<Record<string, string>> = {
    POST: isVolume ? 'create' : 'update',
    PUT: 'update',
    DELETE: 'delete',
  };
  const hasEtag = (call: Call) => isVolume && isAtLeast(call, 15);

  /** Changes the metadata. Returns undefined if the current metadata does not meet the request's `If-Match` header. */
  async function changeMetadata(call: Call, changed: (before: Metadata) => Metadata): Promise<Metadata | undefined> {
    const policy = `volume:${verbs[call.req.method]}_${resource.spec.one}_metadata`;
    const before = await resource.find(call, call.param('id'), 'change', policy);
    const current = before.metadata as Metadata;
    if (call.req.method === 'PUT' && hasEtag(call) && !isMatch(call, current)) return undefined;
    const metadata = changed(current);
    await resource.apply(call, before, { metadata });
    return metadata;
  }

  const itemNotFound = (call: Call) =>
    notFound(`${resource.title} ${call.param('id')} has no metadata with key ${call.param('key')}.`);
  return [
    get(path, async (call) => {
      const { metadata } = await resource.find(call, call.param('id'));
      if (hasEtag(call)) call.res.setHeader('ETag', etagOf(metadata as Metadata));
      return { metadata };
    }),
    post(path, async (call) => ({
      metadata: await changeMetadata(call, (before) => ({ ...before, ...call.body(MetadataBody).metadata })),
    })),
    put(path, async (call) => {
      const { metadata } = call.body(MetadataBody);
      return (await changeMetadata(call, () => metadata)) ? { metadata } : new Reply(412);
    }),
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
      return (await changeMetadata(call, (before) => ({ ...before, ...meta }))) ? { meta } : new Reply(412);
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
