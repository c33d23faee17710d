import { pipeline } from 'node:stream/promises';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import type { Resource } from '../service/resource.js';
import { del, get, noContent, post, put, type Route, serialized } from '../service/route.js';
import {
  badRequest,
  conflict,
  forbidden,
  notFound,
  ServiceError,
  unsupportedAction,
} from '../service/service-error.js';
import { checkCount } from './image-attributes.js';
import { STORE_ID } from './image-view.js';
import { policyError } from './policies.js';
import { checkSchema } from './schema-check.js';
import { IMAGE } from './schemas.js';
import { stageBytes } from './staging.js';
import { storeContent } from './store-content.js';
import { withoutBody } from './without-body.js';

const catalog = (call: Call) => call.cloud.catalogs.images;

/** Parses a byte range: `bytes=0-99`, `bytes=10-` or `bytes=-10` in `Range`, `bytes 0-99/*` in `Content-Range`. */
function parseRange(call: Call, size: number): { readonly from: number; readonly to: number } | undefined {
  const rangeHeader = call.req.header('range') ?? call.req.header('content-range');
  if (rangeHeader === undefined) return undefined;
  if (rangeHeader.includes(','))
    throw badRequest(
      'Requests with multiple ranges are not supported in Glance. You may make multiple single-range requests instead.',
    );
  const [, first = '', last = ''] = /^bytes[ =](\d*)-(\d*)/.exec(rangeHeader) ?? [];
  if (first === '') return { from: last === '' ? size : Math.max(size - Number(last), 0), to: size - 1 };
  return { from: Number(first), to: last === '' ? size - 1 : Math.min(Number(last), size - 1) };
}

async function* slice(content: AsyncIterable<Uint8Array>, from: number, to: number) {
  let at = 0;
  for await (const chunk of content) {
    const start = Math.max(from - at, 0);
    const end = Math.min(to + 1 - at, chunk.length);
    if (start < end) yield chunk.subarray(start, end);
    at += chunk.length;
    if (at > to) return;
  }
}

async function download(call: Call) {
  const { checksum, sizeBytes, status } = await catalog(call).get(call.caller, call.param('id'));
  if (status === 'deactivated' && !call.isAdmin)
    throw forbidden('The requested image has been deactivated. Image data download is forbidden.');
  if (!call.hasRole('member')) throw policyError('download_image');
  if (status === 'queued') return noContent();
  const content = await catalog(call).download(call.caller, call.param('id'));
  if (!sizeBytes) return noContent();
  const range = parseRange(call, sizeBytes);
  if (range && (range.from >= sizeBytes || range.to < range.from)) {
    call.res.setHeader('Content-Range', `bytes */${sizeBytes}`);
    call.res.status(416).end();
    return undefined;
  }
  call.res.setHeader('Content-Type', 'application/octet-stream');
  if (range) {
    call.res.status(206);
    call.res.setHeader('Content-Range', `bytes ${range.from}-${range.to}/${sizeBytes}`);
  } else if (checksum) call.res.setHeader('Content-MD5', checksum);
  const { from, to } = range ?? { from: 0, to: sizeBytes - 1 };
  call.res.setHeader('Content-Length', to - from + 1);
  await pipeline(range ? slice(content, from, to) : content, call.res);
  return undefined;
}

function requireQueued({ status }: Doc, next: string): void {
  if (status !== 'queued') throw conflict(`Image status transition from ${status} to ${next} is not allowed`);
}

/** Throws a 415 error unless the media type of the body is `application/octet-stream`. */
function checkMediaType(call: Call): void {
  const mediaType = call.req.header('content-type')?.replace(/;.*/s, '').trim() ?? 'None';
  if (mediaType.toLowerCase() !== 'application/octet-stream')
    throw new ServiceError(415, `Invalid content type ${mediaType}`);
}

/** The routes that upload, stage and download image data, and that change tags or deactivate and reactivate images. */
export function contentRoutes(resource: Resource): readonly Route[] {
  const findImage = (call: Call, policy?: string) => resource.find(call, call.param('id'), 'change', policy);

  async function changeTags(call: Call, change: (tags: readonly string[], tag: string) => readonly string[]) {
    const image = await findImage(call);
    const tags = change(image.tags as readonly string[], call.param('tag'));
    checkCount('tags', tags.length, `Image tag limit exceeded for image ${image.id}`);
    await catalog(call).update(call.caller, image.id, { tags });
    return noContent();
  }

  return [
    serialized(
      'none',
      put('/v2/images/:id/file', async (call) => {
        checkMediaType(call);
        const store = call.req.header('x-image-meta-store') ?? STORE_ID;
        if (store !== STORE_ID) throw badRequest(`Unknown scheme '${store}' found in URI`);
        const image = await findImage(call, 'upload_image');
        requireQueued(image, 'saving');
        const missingAttributes = ['disk_format', 'container_format'].filter((key) => !image[key]);
        if (missingAttributes.length > 0)
          throw badRequest(
            `${missingAttributes.length > 1 ? 'Properties' : 'Property'} ${missingAttributes.join(', ')} must be set prior to saving data.`,
          );
        await storeContent(call, image, call.req);
        return noContent();
      }),
    ),
    withoutBody(get('/v2/images/:id/file', download)),
    put('/v2/images/:id/stage', async (call) => {
      // With durable documents, acknowledged uploads must survive a restart, but staged image data is kept only in
      // memory.
      if (call.cloud.documents.areDurable) throw unsupportedAction('stage: upload the content to .../file');
      checkMediaType(call);
      const image = await findImage(call);
      requireQueued(image, 'uploading');
      await stageBytes(call, image.id);
      return noContent();
    }),
    ...(['deactivate', 'reactivate'] as const).map((action) =>
      withoutBody(
        post(`/v2/images/:id/actions/${action}`, async (call) => {
          const { id, status } = await findImage(call, action);
          if (status !== 'active' && status !== 'deactivated')
            throw forbidden(`Not allowed to ${action} image in status '${status}'`);
          await catalog(call)[action](call.caller, id);
          return noContent();
        }),
      ),
    ),
    withoutBody(
      put('/v2/images/:id/tags/:tag', (call) => {
        checkSchema(IMAGE, { tags: [call.param('tag')] });
        return changeTags(call, (tags, tag) => [...new Set([...tags, tag])]);
      }),
    ),
    withoutBody(
      del('/v2/images/:id/tags/:tag', (call) =>
        changeTags(call, (tags, tag) => {
          if (!tags.includes(tag)) throw notFound('The resource could not be found.');
          return tags.filter((other) => other !== tag);
        }),
      ),
    ),
  ];
}
