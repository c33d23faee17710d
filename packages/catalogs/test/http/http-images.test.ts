import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Caller } from '../../src/caller/caller.js';
import { httpImages, ServiceSession } from '../../src/http/index.js';
import type { ImageCatalog } from '../../src/image/image-catalog.js';
import { type FakeIdentity, startFakeIdentity } from '../fake-services/fake-identity.js';
import { startFakeImages } from '../fake-services/fake-image-service.js';

/** The caller of a background job. In contrast to a request, a job does not have the caller's token. */
const job: Caller = { userId: 'ada', projectId: 'p-ada', roles: ['member'] };
const otherCaller: Caller = { userId: 'bob', projectId: 'p-bob', roles: ['member'] };

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

  it('creates a snapshot for the project, uploads its content and shows it', async () => {
    const requested = snapshot();
    expect(await images.create(job, requested)).toMatchObject({
      id: requested.id,
      status: 'queued',
      projectId: 'p-ada',
      minDiskGb: 2,
      properties: { image_type: 'snapshot', instance_uuid: 's1' },
    });
    expect(await images.upload(job, requested.id, Buffer.from('hello'))).toMatchObject({
      status: 'active',
      sizeBytes: 5,
    });
    expect(service.contents.get(requested.id)).toBe('hello');
    const pieces: Uint8Array[] = [];
    for await (const chunk of await images.download(job, requested.id)) pieces.push(chunk);
    expect(JSON.parse(Buffer.concat(pieces).toString())).toBe('hello');
    await expect(images.download(job, randomUUID())).rejects.toMatchObject({ code: 'IMAGE_NOT_FOUND' });
    const listed = await images.list(ada, { properties: { instance_uuid: 's1' }, status: 'active' });
    expect(listed.map((image) => image.id)).toEqual([requested.id]);
  });

  it("sends the caller's own token and the service's, or only the service's if there is none", async () => {
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

  it('sends content in chunks', async () => {
    const { id } = await images.create(job, snapshot());
    async function* pieces() {
      yield Buffer.from('a');
      yield Buffer.from('b');
    }
    expect(await images.upload(job, id, pieces())).toMatchObject({ status: 'active' });
    expect(service.contents.get(id)).toBe('ab');
  });

  it('returns the existing image for a repeated creation, and rejects the id of another project', async () => {
    const requested = snapshot();
    await images.create(job, requested);
    expect(await images.create(job, requested)).toMatchObject({ id: requested.id, status: 'queued' });
    await expect(images.create(otherCaller, requested)).rejects.toMatchObject({ code: 'IMAGE_EXISTS', status: 409 });
  });

  it('treats an upload whose response was lost as complete', async () => {
    const { id } = await images.create(job, snapshot());
    service.fail('PUT', /file/, 'lose');
    expect(await images.upload(job, id, Buffer.from('x'))).toMatchObject({ status: 'active' });
    expect(await images.upload(job, id, Buffer.from('y'))).toMatchObject({ status: 'active' });
    expect(service.contents.get(id)).toBe('x');
  });

  it('follows the pages of a list, and stops at the limit', async () => {
    const ids = [];
    for (let i = 0; i < 5; i++) ids.unshift((await images.create(job, snapshot({ name: 'paged' }))).id);
    expect((await images.list(job, { name: 'paged' })).map((image) => image.id)).toEqual(ids);
    expect((await images.list(job, { name: 'paged', limit: 3 })).map((image) => image.id)).toEqual(ids.slice(0, 3));
    expect((await images.list(job, { name: 'paged', marker: ids[3] })).map((image) => image.id)).toEqual(ids.slice(4));
  });

  it('changes only the given fields', async () => {
    const { id } = await images.create(job, snapshot());
    await images.update(job, id, { name: 'new', properties: { image_type: null, 'a/b': 'c', never: null } });
    expect(await images.get(job, id)).toMatchObject({ name: 'new', properties: { instance_uuid: 's1', 'a/b': 'c' } });
    expect((await images.get(job, id)).properties).not.toHaveProperty('image_type');
  });

  it('hides private images of other projects even if the service shows them, and shows shared ones to members', async () => {
    const { id } = await images.create(job, snapshot());
    await expect(images.get(otherCaller, id)).rejects.toMatchObject({ code: 'IMAGE_NOT_FOUND' });
    await expect(images.delete(otherCaller, id)).rejects.toMatchObject({ code: 'IMAGE_NOT_FOUND' });
    await images.update(job, id, { visibility: 'shared' });
    await expect(images.get(otherCaller, id)).rejects.toMatchObject({ code: 'IMAGE_NOT_FOUND' });
    service.images.get(id)!.members = ['p-bob'];
    expect(await images.get(otherCaller, id)).toMatchObject({ id });
    await expect(images.delete(otherCaller, id)).rejects.toMatchObject({ code: 'IMAGE_FORBIDDEN' });
  });

  it('deletes unprotected images, and treats a repeated deletion whose first response was lost as successful', async () => {
    const { id } = await images.create(job, snapshot({ protected: true }));
    await expect(images.delete(job, id)).rejects.toMatchObject({ code: 'IMAGE_PROTECTED', status: 403 });
    await images.update(job, id, { protected: false });
    service.fail('DELETE', /images/, 'lose');
    await images.delete(job, id);
    await expect(images.get(job, id)).rejects.toMatchObject({ code: 'IMAGE_NOT_FOUND', status: 404 });
  });

  it('retries reads when the service fails, up to a limit', async () => {
    const { id } = await images.create(job, snapshot());
    service.fail('GET', /images/, 'drop');
    service.fail('GET', /images/, { status: 503 });
    expect(await images.get(job, id)).toMatchObject({ id });
    service.fail('GET', /images/, { status: 500, body: 'broken' }, 3);
    await expect(images.get(job, id)).rejects.toMatchObject({ code: 'UNAVAILABLE', status: 503 });
  });

  it('never retries a creation', async () => {
    const before = service.journal.length;
    service.fail('POST', /images/, { status: 503 });
    await expect(images.create(job, snapshot())).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(service.journal.length - before).toBe(1);
  });

  it('has a timeout', async () => {
    const withShortTimeout = httpImages({
      url: service.url,
      session: new ServiceSession(identity.credentials),
      timeoutMs: 50,
      retries: 0,
    });
    service.fail('GET', /images/, 'hang');
    await expect(withShortTimeout.get(job, 'x')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  it('always acts on behalf of the caller', async () => {
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

  it('logs in again when the service no longer accepts its token', async () => {
    const { id } = await images.create(job, snapshot());
    for (const token of [...identity.tokens.keys()]) if (token.startsWith('service-')) identity.tokens.delete(token);
    expect(await images.get(job, id)).toMatchObject({ id });
  });
});
