import { randomUUID } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import type { EmbeddedCatalogs } from '@apistrata/compute-engine';
import { z } from 'zod';
import type { Call } from '../service/call.js';
import { del, get, noContent, openGet, patch, post, put, Reply, type Route } from '../service/route.js';
import { forbidden, notFound } from '../service/service-error.js';
import { ImageBody, Patch, readImageBody, readPatch } from './image-body.js';
import { listImages } from './image-list.js';
import { imageView, memberView } from './image-view.js';

const VERSIONS = ['v2.9', 'v2.7', 'v2.6', 'v2.5', 'v2.4', 'v2.3', 'v2.2', 'v2.1', 'v2.0'];
const Member = z.object({ member: z.string() });
const MemberStatus = z.object({ status: z.enum(['pending', 'accepted', 'rejected']) });

function versions({ base }: Call): unknown {
  const links = [{ rel: 'self', href: `${base}/v2/` }];
  return { versions: VERSIONS.map((id, index) => ({ id, status: index === 0 ? 'CURRENT' : 'SUPPORTED', links })) };
}

/** Images, their content, their tags and who they are shared with. */
export function imageRoutes(catalogs: () => EmbeddedCatalogs): readonly Route[] {
  const images = () => catalogs().images;
  const one = (call: Call) => images().get(call.caller, call.param('id'));

  async function changeTags(call: Call, change: (tags: readonly string[], tag: string) => readonly string[]) {
    const { tags } = await one(call);
    await images().update(call.caller, call.param('id'), { tags: change(tags, call.param('tag')) });
    return noContent();
  }

  return [
    openGet('/', (call) => new Reply(300, versions(call))),
    openGet('/versions', versions),
    openGet('/v2', (call) => new Reply(300, versions(call))),
    get('/v2/images', (call) => listImages(images(), call)),
    post('/v2/images', async (call) => {
      const body = call.body(ImageBody);
      if (body.visibility === 'public' && !call.isAdmin) throw forbidden('You are not authorized to publicize images.');
      const change = readImageBody(body) as Parameters<ReturnType<typeof images>['create']>[1];
      const image = await images().create(call.caller, { ...change, id: body.id ?? randomUUID() });
      return new Reply(201, imageView(await images().get(call.caller, image.id)), {
        Location: `${call.base}/v2/images/${image.id}`,
        'OpenStack-image-import-methods': 'glance-direct',
      });
    }),
    get('/v2/images/:id', async (call) => imageView(await one(call))),
    patch('/v2/images/:id', async (call) => {
      const change = readPatch(call.body(Patch), await one(call));
      if (change.visibility === 'public' && !call.isAdmin)
        throw forbidden('You are not authorized to publicize images.');
      await images().update(call.caller, call.param('id'), change);
      return imageView(await one(call));
    }),
    del('/v2/images/:id', async (call) => {
      await images().delete(call.caller, call.param('id'));
      return noContent();
    }),
    put('/v2/images/:id/file', async (call) => {
      await images().upload(call.caller, call.param('id'), call.req);
      return noContent();
    }),
    get('/v2/images/:id/file', async (call) => {
      const { checksum, sizeBytes } = await one(call);
      const content = await images().download(call.caller, call.param('id'));
      if (!sizeBytes) return noContent();
      call.res.setHeader('Content-Type', 'application/octet-stream');
      call.res.setHeader('Content-Length', sizeBytes);
      if (checksum) call.res.setHeader('Content-MD5', checksum);
      await pipeline(content, call.res);
      return undefined;
    }),
    put('/v2/images/:id/stage', async (call) => {
      await images().upload(call.caller, call.param('id'), call.req);
      return noContent();
    }),
    post('/v2/images/:id/import', () => new Reply(202)),
    post('/v2/images/:id/actions/deactivate', async (call) => {
      await images().deactivate(call.caller, call.param('id'));
      return noContent();
    }),
    post('/v2/images/:id/actions/reactivate', async (call) => {
      await images().reactivate(call.caller, call.param('id'));
      return noContent();
    }),
    put('/v2/images/:id/tags/:tag', (call) => changeTags(call, (tags, tag) => [...new Set([...tags, tag])])),
    del('/v2/images/:id/tags/:tag', (call) =>
      changeTags(call, (tags, tag) => {
        if (!tags.includes(tag)) throw notFound(`Image ${call.param('id')} has no tag ${tag}`);
        return tags.filter((other) => other !== tag);
      }),
    ),
    get('/v2/images/:id/members', async (call) => ({
      members: (await images().listMembers(call.caller, call.param('id'))).map(memberView),
      schema: '/v2/schemas/members',
    })),
    post(
      '/v2/images/:id/members',
      async (call) =>
        new Reply(200, memberView(await images().addMember(call.caller, call.param('id'), call.body(Member).member))),
    ),
    get('/v2/images/:id/members/:member', async (call) => {
      const members = await images().listMembers(call.caller, call.param('id'));
      const member = members.find(({ projectId }) => projectId === call.param('member'));
      if (!member) throw notFound(`Image ${call.param('id')} has no member ${call.param('member')}`);
      return memberView(member);
    }),
    put('/v2/images/:id/members/:member', async (call) => {
      const { status } = call.body(MemberStatus);
      return memberView(await images().setMemberStatus(call.caller, call.param('id'), call.param('member'), status));
    }),
    del('/v2/images/:id/members/:member', async (call) => {
      await images().removeMember(call.caller, call.param('id'), call.param('member'));
      return noContent();
    }),
    get('/v2/schemas/image', () => ({ name: 'image', properties: {}, additionalProperties: { type: 'string' } })),
    get('/v2/info/import', () => ({
      'import-methods': { description: 'Import methods available.', type: 'array', value: [] },
    })),
    get('/v2/info/stores', () => ({ stores: [{ id: 'embedded', default: 'true' }] })),
  ];
}
