import type { EmbeddedCatalogs, ImageQuery, ImageStatus, ImageVisibility } from '@apistrata/compute-engine';
import type { Call } from '../service/call.js';
import { filtered, type SortKey, sorted } from '../service/listing.js';
import { imageView } from './image-view.js';

const PAGE = 25;
const MAX_PAGE = 1000;

/** Parameters that the catalog narrows by itself. */
function queryOf(call: Call): ImageQuery {
  const ids = call.text('id');
  return {
    name: call.text('name'),
    status: call.text('status') as ImageStatus | undefined,
    visibility:
      call.query.get('visibility') === 'all' ? undefined : (call.text('visibility') as ImageVisibility | undefined),
    projectId: call.text('owner'),
    ids: ids === undefined ? undefined : ids.replace(/^in:/, '').split(','),
    tags: call.query.getAll('tag'),
    hidden: call.flag('os_hidden'),
  };
}

const TAKEN = ['name', 'status', 'visibility', 'owner', 'id', 'tag', 'os_hidden', 'member_status'];

/** Sort keys of both spellings: `sort=name:asc,created_at` and `sort_key`. */
function sortOf(query: URLSearchParams): readonly SortKey[] {
  const sort = query.get('sort');
  const directions = query.getAll('sort_dir');
  if (!sort)
    return query
      .getAll('sort_key')
      .map((key, index) => ({ key, descending: (directions[index] ?? directions[0] ?? 'desc') === 'desc' }));
  const wanted: SortKey[] = [];
  for (const part of sort.split(',')) {
    const [key = '', direction = 'desc'] = part.split(':');
    wanted.push({ key, descending: direction === 'desc' });
  }
  return wanted;
}

/** One page of the images that the caller sees, and where the next one is. */
export async function listImages(images: EmbeddedCatalogs['images'], call: Call) {
  const found = await images.list(call.caller, queryOf(call));
  const rest = new URLSearchParams(call.query);
  for (const name of TAKEN) rest.delete(name);
  const shown = sorted(
    filtered(
      found.map(imageView),
      rest,
      [...rest.keys()].filter((key) => !['limit', 'marker', 'sort', 'sort_key', 'sort_dir'].includes(key)),
    ),
    sortOf(call.query),
  );
  const limit = Math.min(call.number('limit') ?? PAGE, MAX_PAGE);
  const start = call.text('marker') === undefined ? 0 : shown.findIndex(({ id }) => id === call.text('marker')) + 1;
  const page = shown.slice(start, start + limit);
  const link = (marker: string | undefined) => {
    const query = new URLSearchParams(call.query);
    query.delete('marker');
    if (marker !== undefined) query.set('marker', marker);
    return query.size > 0 ? `/v2/images?${query}` : '/v2/images';
  };
  const more = page.length > 0 && start + limit < shown.length;
  return {
    images: page,
    first: link(undefined),
    schema: '/v2/schemas/images',
    ...(more && { next: link(String(page.at(-1)!.id)) }),
  };
}
