import { Rejection } from '@apistrata/compute-engine';
import type { Image, ImageQuery } from '@apistrata/compute-engine/catalogs';
import { described, one, query } from '@apistrata/microversion/schema';
import type { ComputeCall } from '../../http/call.js';
import { nextLink, pageSize } from '../../http/paging.js';
import { operation } from '../../operation.js';
import { commonTexts } from '../../reference/common-texts.js';
import { dateTimeText } from '../../schemas/date-time.js';
import { collectionLinks } from '../../schemas/reply-types.js';
import { isStorable, STORABLE_RULE, storableText } from '../../schemas/storable-text.js';
import { positiveInteger } from '../../schemas/types.js';
import { imageDetail, imageSummary, statusesOf } from './image-view.js';
import { imageProxyDocs } from './proxy-docs.js';

/** OpenAPI descriptions that several fields share. */
const imageTexts = {
  images: 'The images on this page.',
  imagesLinks: 'Link to the next page. Absent if this page is not full.',
} as const;

const listQuery = query(
  {
    name: described('Filters images by name.', one(storableText)),
    status: described('Filters images by status.', one(storableText)),
    'changes-since': described(
      'Returns only images whose last change was at or after this time (ISO 8601).',
      one(dateTimeText),
    ),
    server: described('Filters images by the server from which they were created: its ID or URL.', one(storableText)),
    type: described(
      'Filters images by type: `snapshot` for images that were created from servers, `base` for all others.',
      one(storableText),
    ),
    minRam: described('Returns only images whose minimum memory is at least this value, in MiB.', one(storableText)),
    minDisk: described(
      'Returns only images whose minimum root disk is at least this value, in GiB.',
      one(storableText),
    ),
    limit: described(commonTexts.limit, one(positiveInteger)),
    page_size: described('Alias of `limit`.', one(positiveInteger)),
    marker: described(commonTexts.marker, one(storableText)),
    offset: described(commonTexts.offset, one(positiveInteger)),
  },
  { extra: 'keep' },
);

type ImageListRequest = ReturnType<typeof listQuery.parse>['value'];

const PROPERTY_PREFIX = 'property-';

/** Returns the filters on image properties, which are the parameters `property-*`, `server` and `type`. */
function propertyFiltersOf(requested: ImageListRequest): Readonly<Record<string, string>> {
  const propertyFilters = Object.entries(requested as Readonly<Record<string, unknown>>).filter(([name]) =>
    name.startsWith(PROPERTY_PREFIX),
  );
  const properties = Object.fromEntries(
    propertyFilters.map(([name, value]) => [name.slice(PROPERTY_PREFIX.length), String(value)]),
  );
  if (Object.entries(properties).some((pair) => !isStorable(pair.join())))
    throw new Rejection('BAD_REQUEST', STORABLE_RULE.message);
  return {
    ...properties,
    // Clients may identify a server by its URL.
    ...(requested.server && { instance_uuid: requested.server.slice(requested.server.lastIndexOf('/') + 1) }),
    ...(requested.type && { image_type: requested.type }),
  };
}

function parseMinimum(name: string, text: string | undefined): number {
  if (text === undefined) return 0;
  if (!/^[+-]?\d+$/.test(text)) throw new Rejection('BAD_REQUEST', `Invalid ${name} filter [${text}]`);
  return Number(text);
}

/**
 * Returns a page of images, newest first. Filters that the image service does not support are applied to its response.
 */
async function pageOf(call: ComputeCall, requested: ImageListRequest) {
  const size = pageSize(call, requested.limit ?? requested.page_size);
  const minRam = parseMinimum('minRam', requested.minRam);
  const minDisk = parseMinimum('minDisk', requested.minDisk);
  const statuses = requested.status === undefined ? undefined : statusesOf(requested.status);
  const filter: ImageQuery = {
    name: requested.name,
    properties: propertyFiltersOf(requested),
    updatedSince: requested['changes-since'],
    status: statuses?.length === 1 ? statuses[0] : undefined,
  };
  const listPage = (page: ImageQuery) => call.engine.catalogs.images.list(call.caller, { ...filter, ...page });
  const needsFilter = minRam > 0 || minDisk > 0 || (statuses !== undefined && statuses.length !== 1);
  const images = needsFilter ? await filteredImages() : await listPage({ limit: size, marker: requested.marker });
  return { images, images_links: nextLink(call, size, images, ({ id }: Image) => id) as never };

  async function filteredImages(): Promise<readonly Image[]> {
    const allImages = await listPage({ marker: requested.marker });
    const fits = ({ minRamMb, minDiskGb, status }: Image) =>
      minRamMb >= minRam && minDiskGb >= minDisk && (statuses?.includes(status) ?? true);
    return allImages.filter(fits).slice(0, size);
  }
}

export const imageProxies = [
  operation({
    ...imageProxyDocs,
    name: 'listImages',
    method: 'GET',
    path: '/images',
    summary: 'List images',
    description: 'Lists the IDs and names of the images that the caller can use.',
    status: 200,
    errors: [400],
    query: listQuery,
    reply: {
      images: described(imageTexts.images, [imageSummary]),
      images_links: described(imageTexts.imagesLinks, collectionLinks.optional()),
    },
    run: (call) => pageOf(call, call.query),
  }),
  operation({
    ...imageProxyDocs,
    name: 'listImagesDetail',
    method: 'GET',
    path: '/images/detail',
    summary: 'List images with details',
    description: 'Lists images with details.',
    status: 200,
    errors: [400],
    query: listQuery,
    reply: {
      images: described(imageTexts.images, [imageDetail]),
      images_links: described(imageTexts.imagesLinks, collectionLinks.optional()),
    },
    run: (call) => pageOf(call, call.query),
  }),
  operation({
    ...imageProxyDocs,
    name: 'showImage',
    method: 'GET',
    path: '/images/{id}',
    summary: 'Show an image',
    description: 'Shows an image.',
    status: 200,
    errors: [404],
    reply: { image: described('An image.', imageDetail) },
    run: async ({ engine, caller, params }) => ({ image: await engine.catalogs.images.get(caller, params.id) }),
  }),
  operation({
    ...imageProxyDocs,
    name: 'deleteImage',
    method: 'DELETE',
    path: '/images/{id}',
    summary: 'Delete an image',
    description: 'Deletes an image.',
    status: 204,
    errors: [403, 404],
    run: ({ engine, caller, params }) => engine.catalogs.images.delete(caller, params.id),
  }),
];
