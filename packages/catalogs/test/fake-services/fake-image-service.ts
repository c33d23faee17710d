import type { FakeRequest, FakeResponse, FakeToken } from './fake-service.js';
import { startFake } from './fake-service.js';

const error = (status: number, message: string): FakeResponse => ({ status, body: { message, code: status } });

/** Starts a fake Image v2 server that can show, list, create, upload, patch and delete images, and show members. */
export async function startFakeImages(tokens: ReadonlyMap<string, FakeToken>) {
  const images = new Map<string, Record<string, any>>();
  const contents = new Map<string, string>();

  function list({ query, token }: FakeRequest): FakeResponse {
    const filters = [...query].filter(([key]) => !['limit', 'marker', 'tag', 'id', 'updated_at'].includes(key));
    const ids = query.get('id')?.replace('in:', '').split(',');
    const seen = [...images.values()]
      .reverse()
      .filter(
        (image) =>
          (token!.admin || image.owner === token!.projectId || image.visibility === 'public') &&
          filters.every(([key, value]) => String(image[key]) === value) &&
          query.getAll('tag').every((tag) => image.tags.includes(tag)) &&
          (!ids || ids.includes(image.id)),
      );
    const from = query.get('marker') ? seen.findIndex((image) => image.id === query.get('marker')) + 1 : 0;
    const size = Math.min(Number(query.get('limit') ?? 2), 2);
    const page = seen.slice(from, from + size);
    const next = seen.length > from + size ? { next: `/v2/images?marker=${page.at(-1)!.id}` } : {};
    return { status: 200, body: { images: page, ...next } };
  }

  function create({ json, token }: FakeRequest): FakeResponse {
    if (images.has(json.id)) return error(409, `Image ID ${json.id} already exists!`);
    const now = new Date().toISOString();
    const owner = token!.admin ? (json.owner ?? token!.projectId) : token!.projectId;
    const base = { visibility: 'shared', min_disk: 0, min_ram: 0, protected: false, os_hidden: false, tags: [] };
    const image = { ...base, ...json, owner, status: 'queued', size: null, created_at: now, updated_at: now };
    images.set(image.id, image);
    return { status: 201, body: image };
  }

  function patch(image: Record<string, any>, { json, headers }: FakeRequest): FakeResponse {
    if (headers['content-type'] !== 'application/openstack-images-v2.1-json-patch') return error(415, 'Unsupported');
    for (const { op, path, value } of json) {
      const key = path.slice(1).replaceAll('~1', '/').replaceAll('~0', '~');
      if (op !== 'add' && !(key in image)) return error(409, `Property ${key} does not exist.`);
      if (op === 'remove') delete image[key];
      else image[key] = value;
    }
    return { status: 200, body: image };
  }

  const fake = await startFake(tokens, (request) => {
    const { method, path, token, raw } = request;
    if (!token) return error(401, 'Unauthorized');
    if (path === '/v2/images') return method === 'GET' ? list(request) : create(request);
    const [, id, rest] = /^\/v2\/images\/([^/]+)(\/.+)?$/.exec(path) ?? [];
    const image = images.get(decodeURIComponent(id ?? ''));
    const seen = image && (token.admin || image.owner === token.projectId || image.visibility === 'public');
    if (!seen) return error(404, `No image found with ID ${id}`);
    if (rest === '/file' && method === 'GET') return { status: 200, body: contents.get(image.id) };
    if (rest === '/file') {
      if (image.status !== 'queued')
        return error(409, `Image status transition from ${image.status} to saving is not allowed`);
      contents.set(image.id, raw.toString());
      Object.assign(image, { status: 'active', size: raw.byteLength });
      return { status: 204 };
    }
    if (rest?.startsWith('/members/'))
      return image.members?.includes(rest.slice(9)) ? { status: 200, body: {} } : error(404, 'no member');
    if (method === 'GET') return { status: 200, body: image };
    if (method === 'PATCH') return patch(image, request);
    if (image.protected) return error(403, `Image ${id} is protected and cannot be deleted.`);
    images.delete(image.id);
    return { status: 204 };
  });
  return Object.assign(fake, { images, contents });
}
