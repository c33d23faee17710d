import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Caller } from '../../src/caller/caller.js';
import { httpImages, ServiceSession } from '../../src/http/index.js';
import type { ImageCatalog } from '../../src/image/image-catalog.js';
import { type FakeIdentity, startFakeIdentity } from '../fake-services/fake-identity.js';
import { startFakeImages } from '../fake-services/fake-image-service.js';

/** A background job has no token of its caller; a request has. */
const job: Caller = { userId: 'ada', projectId: 'p-ada', roles: ['member'] };
const stranger: Caller = { userId: 'bob', projectId: 'p-bob', roles: ['member'] };

let identity: FakeIdentity;
let ada: Caller;

beforeAll(async () => {
  identity = await startFakeIdentity();
  ada = { ...job, token: identity.issue('p-ada') };
});
afterAll(() => identity.close());

describe('images over HTTP', () => {
  let service: Awaited<ReturnType<typeof startFakeImages>>;
  let images: ImageCatalog;

  beforeAll(async () => {
    service = await startFakeImages(identity.tokens);
    images = httpImages({ url: service.url, session: new ServiceSession(identity.credentials), timeoutMs: 2000 });
  });
  afterAll(() => service.close());
  const snapshot = (more: object = {}) => ({
    id: randomUUID(),
    name: 'snap',
    visibility: 'private' as const,
    minDiskGb: 2,
    properties: { image_type: 'snapshot', instance_uuid: 's1' },
    ...more,
  });

  it('makes a snapshot for the project, fills it and shows it', async () => {
    const wish = snapshot();
    expect(await images.create(job, wish)).toMatchObject({
      id: wish.id,
      status: 'queued',
      projectId: 'p-ada',
      minDiskGb: 2,
      properties: { image_type: 'snapshot', instance_uuid: 's1' },
    });
    expect(await images.upload(job, wish.id, Buffer.from('hello'))).toMatchObject({ status: 'active', sizeBytes: 5 });
    expect(service.contents.get(wish.id)).toBe('hello');
    const pieces: Uint8Array[] = [];
    for await (const piece of await images.download(job, wish.id)) pieces.push(piece);
    expect(JSON.parse(Buffer.concat(pieces).toString())).toBe('hello');
    await expect(images.download(job, randomUUID())).rejects.toMatchObject({ code: 'IMAGE_NOT_FOUND' });
    const listed = await images.list(ada, { properties: { instance_uuid: 's1' }, status: 'active' });
    expect(listed.map((image) => image.id)).toEqual([wish.id]);
  });

  it("uses the caller's own token beside the service's, and the service's alone without one", async () => {
    const { id } = await images.create(ada, snapshot());
    await images.get(ada, id);
    expect(service.journal.at(-1)!.headers).toMatchObject({
      'x-auth-token': ada.token,
      'x-service-token': expect.stringMatching(/^service-/),
    });
    await images.get(job, id);
    const { headers } = service.journal.at(-1)!;
    expect(headers['x-auth-token']).toMatch(/^service-/);
    expect(headers['x-service-token']).toBe(headers['x-auth-token']);
  });

  it('sends content that comes in pieces', async () => {
    const { id } = await images.create(job, snapshot());
    async function* pieces() {
      yield Buffer.from('a');
      yield Buffer.from('b');
    }
    expect(await images.upload(job, id, pieces())).toMatchObject({ status: 'active' });
    expect(service.contents.get(id)).toBe('ab');
  });

  it('finds an image made twice, and refuses an id that is somebody else’s', async () => {
    const wish = snapshot();
    await images.create(job, wish);
    expect(await images.create(job, wish)).toMatchObject({ id: wish.id, status: 'queued' });
    await expect(images.create(stranger, wish)).rejects.toMatchObject({ code: 'IMAGE_EXISTS', status: 409 });
  });

  it('takes an upload whose answer got lost as done', async () => {
    const { id } = await images.create(job, snapshot());
    service.fail('PUT', /file/, 'lose');
    expect(await images.upload(job, id, Buffer.from('x'))).toMatchObject({ status: 'active' });
    expect(await images.upload(job, id, Buffer.from('y'))).toMatchObject({ status: 'active' });
    expect(service.contents.get(id)).toBe('x');
  });

  it('follows the pages of a list, and stops where it was told to', async () => {
    const ids = [];
    for (let i = 0; i < 5; i++) ids.unshift((await images.create(job, snapshot({ name: 'paged' }))).id);
    expect((await images.list(job, { name: 'paged' })).map((image) => image.id)).toEqual(ids);
    expect((await images.list(job, { name: 'paged', limit: 3 })).map((image) => image.id)).toEqual(ids.slice(0, 3));
    expect((await images.list(job, { name: 'paged', marker: ids[3] })).map((image) => image.id)).toEqual(ids.slice(4));
  });

  it('changes only what it was told to', async () => {
    const { id } = await images.create(job, snapshot());
    await images.update(job, id, { name: 'new', properties: { image_type: null, 'a/b': 'c', never: null } });
    expect(await images.get(job, id)).toMatchObject({ name: 'new', properties: { instance_uuid: 's1', 'a/b': 'c' } });
    expect((await images.get(job, id)).properties).not.toHaveProperty('image_type');
  });

  it('hides private images of others even when the service shows them, and lets members see shared ones', async () => {
    const { id } = await images.create(job, snapshot());
    await expect(images.get(stranger, id)).rejects.toMatchObject({ code: 'IMAGE_NOT_FOUND' });
    await expect(images.delete(stranger, id)).rejects.toMatchObject({ code: 'IMAGE_NOT_FOUND' });
    await images.update(job, id, { visibility: 'shared' });
    await expect(images.get(stranger, id)).rejects.toMatchObject({ code: 'IMAGE_NOT_FOUND' });
    service.images.get(id)!.members = ['p-bob'];
    expect(await images.get(stranger, id)).toMatchObject({ id });
    await expect(images.delete(stranger, id)).rejects.toMatchObject({ code: 'IMAGE_FORBIDDEN' });
  });

  it('deletes, but nothing protected; a repeated deletion whose first answer got lost has worked', async () => {
    const { id } = await images.create(job, snapshot({ protected: true }));
    await expect(images.delete(job, id)).rejects.toMatchObject({ code: 'IMAGE_PROTECTED', status: 403 });
    await images.update(job, id, { protected: false });
    service.fail('DELETE', /images/, 'lose');
    await images.delete(job, id);
    await expect(images.get(job, id)).rejects.toMatchObject({ code: 'IMAGE_NOT_FOUND', status: 404 });
  });

  it('repeats reading when the service stumbles, and gives up in the end', async () => {
    const { id } = await images.create(job, snapshot());
    service.fail('GET', /images/, 'drop');
    service.fail('GET', /images/, { status: 503 });
    expect(await images.get(job, id)).toMatchObject({ id });
    service.fail('GET', /images/, { status: 500, body: 'broken' }, 3);
    await expect(images.get(job, id)).rejects.toMatchObject({ code: 'UNAVAILABLE', status: 503 });
  });

  it('never repeats a creation', async () => {
    const before = service.journal.length;
    service.fail('POST', /images/, { status: 503 });
    await expect(images.create(job, snapshot())).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(service.journal.length - before).toBe(1);
  });

  it('does not wait for ever', async () => {
    const hasty = httpImages({
      url: service.url,
      session: new ServiceSession(identity.credentials),
      timeoutMs: 50,
      retries: 0,
    });
    service.fail('GET', /images/, 'hang');
    await expect(hasty.get(job, 'x')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  it("acts in the caller's name throughout", async () => {
    const before = service.journal.length;
    const { id } = await images.create(ada, snapshot());
    await images.upload(ada, id, new Uint8Array(8));
    await images.get(ada, id);
    await images.list(ada);
    await images.update(ada, id, { name: 'hers' });
    await images.delete(ada, id);
    const tokens = service.journal.slice(before).map(({ headers }) => headers['x-auth-token']);
    expect(new Set(tokens)).toEqual(new Set([ada.token]));
  });

  it('logs in again when the service no longer takes its token', async () => {
    const { id } = await images.create(job, snapshot());
    for (const token of [...identity.tokens.keys()]) if (token.startsWith('service-')) identity.tokens.delete(token);
    expect(await images.get(job, id)).toMatchObject({ id });
  });
});
