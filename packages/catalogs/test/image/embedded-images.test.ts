import { randomUUID } from 'node:crypto';
import type { Store } from '@apistrata/record-store';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Caller } from '../../src/caller/caller.js';
import { type EmbeddedImageCatalog, embeddedImages } from '../../src/image/builtin/embedded-images.js';
import { ManualClock } from '../manual-clock.js';
import { storesUnderTest } from '../stores-under-test.js';

const ada: Caller = { userId: 'ada', projectId: 'p-ada', roles: ['member', 'reader'] };
const bob: Caller = { userId: 'bob', projectId: 'p-bob', roles: ['member', 'reader'] };
const admin: Caller = { userId: 'root', projectId: 'p-root', roles: ['admin'], isAdmin: true };
const CIRROS = '11111111-1111-4111-8111-111111111111';

async function text(content: AsyncIterable<Uint8Array>): Promise<string> {
  const parts = [];
  for await (const part of content) parts.push(part);
  return Buffer.concat(parts).toString();
}

describe.each(storesUnderTest(inject('postgresUrl')))('embedded images on $kind', ({ open }) => {
  let store: Store;
  let close: () => Promise<void>;
  let images: EmbeddedImageCatalog;
  const clock = new ManualClock();

  beforeAll(async () => {
    ({ store, close } = await open());
    images = embeddedImages({ store, clock, maxContentBytes: 1_000_000 });
    await images.seed([{ id: CIRROS, name: 'cirros', minDiskGb: 1, properties: { os_distro: 'cirros' } }]);
  });
  afterAll(() => close());

  const create = (caller: Caller, more: object = {}) =>
    images.create(caller, { id: randomUUID(), name: 'mine', ...more });

  it('start with the content of a preset, with its size and checksums', async () => {
    const id = randomUUID();
    await images.seed([
      { id, name: 'seeded', visibility: 'private', projectId: 'p-bob', content: Buffer.from('bytes') },
    ]);
    expect(await images.get(bob, id)).toMatchObject({
      status: 'active',
      sizeBytes: 5,
      checksum: '4b3a6218bb3e3a7303e8a171a60fcf92',
    });
    expect(await text(await images.download(bob, id))).toBe('bytes');
  });

  it('that are shared are listed by member status', async () => {
    const { id } = await create(ada, { visibility: 'shared' });
    await images.addMember(ada, id, bob.projectId);
    const offered = async (memberStatus?: 'pending' | 'rejected' | 'all') =>
      (await images.list(bob, { memberStatus, visibility: 'shared' })).some((image) => image.id === id);
    expect([await offered(), await offered('pending'), await offered('all')]).toEqual([false, true, true]);
    await images.setMemberStatus(bob, id, bob.projectId, 'rejected');
    expect([await offered('pending'), await offered('rejected')]).toEqual([false, true]);
    await images.delete(ada, id);
  });

  it('of the preset are public and active', async () => {
    expect(await images.get(ada, CIRROS)).toMatchObject({
      id: CIRROS,
      name: 'cirros',
      status: 'active',
      visibility: 'public',
      minDiskGb: 1,
      properties: { os_distro: 'cirros' },
    });
  });

  it('of the preset keep their changes when the preset is seeded again', async () => {
    await images.update(admin, CIRROS, { properties: { os_version: '0.6' } });
    await images.seed([{ id: CIRROS, name: 'another name' }]);
    expect(await images.get(ada, CIRROS)).toMatchObject({
      name: 'cirros',
      properties: { os_distro: 'cirros', os_version: '0.6' },
    });
  });

  it('of the preset replace their previous versions, which remain usable', async () => {
    const idOf = (state: number) => `0f0f0f0f-1111-8222-8${state}33-444444444444`;
    const seed = (state: number) =>
      images.seed([{ id: idOf(state), name: 'debian', replacesIdPrefix: idOf(0).slice(0, 19) }]);
    const shown = async () => (await images.list(ada, { name: 'debian' })).map(({ id }) => id);
    for (const state of [1, 2, 1]) {
      await seed(state);
      expect(await shown()).toEqual([idOf(state)]);
    }
    expect(await images.get(ada, idOf(2))).toMatchObject({ status: 'active', hidden: true });
    await images.update(admin, idOf(1), { hidden: true });
    await seed(1);
    expect(await shown(), 'an image that an administrator has hidden stays hidden').toEqual([]);
  });

  it('change from queued to active, and return their content', async () => {
    const serverId = randomUUID();
    const properties = { image_type: 'snapshot', instance_uuid: serverId, base_image_ref: CIRROS };
    const created = await create(ada, { visibility: 'private', properties, minDiskGb: 1, minRamMb: 64 });
    expect(created).toMatchObject({ status: 'queued', sizeBytes: null, projectId: 'p-ada' });
    expect(await images.upload(ada, created.id, Buffer.from('hello'))).toMatchObject({
      status: 'active',
      sizeBytes: 5,
      checksum: '5d41402abc4b2a76b9719d911017c592',
    });
    expect(await text(await images.download(ada, created.id))).toBe('hello');
    expect(await images.list(ada, { properties: { instance_uuid: serverId, image_type: 'snapshot' } })).toMatchObject([
      { id: created.id },
    ]);
    expect(await images.list(ada, { properties: { instance_uuid: serverId, image_type: 'backup' } })).toEqual([]);
  });

  it('keep content of several chunks complete and in order', async () => {
    const { id } = await create(ada);
    const content = Buffer.from(Array.from({ length: 900_000 }, (_, i) => 32 + (i % 90)));
    await images.upload(ada, id, content);
    expect(await text(await images.download(ada, id))).toBe(content.toString());
  });

  it('are created once by repeated creations, even by concurrent ones', async () => {
    const id = randomUUID();
    const created = await Promise.all([1, 2, 3, 4].map(() => images.create(ada, { id, name: 'same' })));
    expect(new Set(created.map((image) => image.seq)).size).toBe(1);
    await expect(images.create(bob, { id, name: 'same' })).rejects.toMatchObject({ code: 'IMAGE_EXISTS', status: 409 });
  });

  it('are not changed by a second upload', async () => {
    const { id } = await create(ada);
    await images.upload(ada, id, Buffer.from('first'));
    await images.upload(ada, id, Buffer.from('second'));
    expect(await text(await images.download(ada, id))).toBe('first');
  });

  it('reject content above the limit, and keep none of it', async () => {
    const { id } = await create(ada);
    await expect(images.upload(ada, id, Buffer.alloc(1_000_001))).rejects.toMatchObject({ code: 'IMAGE_TOO_LARGE' });
    expect(await images.get(ada, id)).toMatchObject({ status: 'queued' });
  });

  it('are hidden from other projects if private, and cannot be changed by them if public', async () => {
    const { id } = await create(ada, { visibility: 'private' });
    const missing = { code: 'IMAGE_NOT_FOUND', kind: 'not-found', status: 404 };
    await expect(images.get(bob, id)).rejects.toMatchObject(missing);
    await expect(images.delete(bob, id)).rejects.toMatchObject(missing);
    expect((await images.list(bob)).map((image) => image.id)).not.toContain(id);
    expect((await images.list(admin)).map((image) => image.id)).toContain(id);
    await expect(images.delete(bob, CIRROS)).rejects.toMatchObject({ code: 'IMAGE_FORBIDDEN', status: 403 });
    await expect(images.update(bob, CIRROS, { name: 'x' })).rejects.toMatchObject({ code: 'IMAGE_FORBIDDEN' });
  });

  it('of the community are listed only on request', async () => {
    const { id } = await create(ada, { visibility: 'community' });
    expect(await images.get(bob, id)).toMatchObject({ id });
    expect((await images.list(bob)).map((image) => image.id)).not.toContain(id);
    expect((await images.list(bob, { visibility: 'community' })).map((image) => image.id)).toEqual([id]);
  });

  it('are listed for a member project once it has accepted', async () => {
    const { id } = await create(ada);
    const listed = async () => (await images.list(bob)).some((image) => image.id === id);
    await expect(images.get(bob, id)).rejects.toMatchObject({ code: 'IMAGE_NOT_FOUND' });
    await images.addMember(ada, id, 'p-bob');
    await expect(images.addMember(ada, id, 'p-bob')).rejects.toMatchObject({ kind: 'conflict' });
    expect(await images.get(bob, id)).toMatchObject({ id });
    expect(await listed()).toBe(false);
    await expect(images.setMemberStatus(ada, id, 'p-bob', 'accepted')).rejects.toMatchObject({ kind: 'forbidden' });
    await images.setMemberStatus(bob, id, 'p-bob', 'accepted');
    expect(await listed()).toBe(true);
    expect(await images.listMembers(ada, id)).toMatchObject([{ projectId: 'p-bob', status: 'accepted' }]);
    await images.removeMember(ada, id, 'p-bob');
    await expect(images.get(bob, id)).rejects.toMatchObject({ code: 'IMAGE_NOT_FOUND' });
  });

  it('merge properties and remove those set to null', async () => {
    const { id } = await create(ada, { properties: { a: '1', b: '2' } });
    await images.update(ada, id, { name: 'renamed', properties: { b: null, c: '3' } });
    expect(await images.get(ada, id)).toMatchObject({ name: 'renamed', properties: { a: '1', c: '3' } });
    expect((await images.get(ada, id)).properties).not.toHaveProperty('b');
  });

  it('lose no concurrent change', async () => {
    const { id } = await create(ada);
    const keys = Array.from({ length: 20 }, (_, i) => `k${i}`);
    await Promise.all(keys.map((key) => images.update(ada, id, { properties: { [key]: 'v' } })));
    expect(Object.keys((await images.get(ada, id)).properties).sort()).toEqual(keys.sort());
  });

  it('are not deleted while they are protected, and are deleted with their content', async () => {
    const { id } = await create(ada, { protected: true });
    await images.upload(ada, id, Buffer.from('x'));
    await expect(images.delete(ada, id)).rejects.toMatchObject({ code: 'IMAGE_PROTECTED', status: 403 });
    await images.update(ada, id, { protected: false });
    await images.delete(ada, id);
    await expect(images.get(ada, id)).rejects.toMatchObject({ code: 'IMAGE_NOT_FOUND' });
    expect(await store.db.selectFrom('image_chunks').selectAll().where('image_id', '=', id).execute()).toEqual([]);
  });

  it('are paged, newest first, and an unknown marker is rejected', async () => {
    const carl: Caller = { ...ada, projectId: 'p-carl' };
    const ids = [];
    for (const name of ['1', '2', '3']) ids.unshift((await create(carl, { name, tags: ['paged'] })).id);
    const query = { projectId: 'p-carl', tags: ['paged'], limit: 2 };
    expect((await images.list(carl, query)).map((image) => image.id)).toEqual(ids.slice(0, 2));
    expect((await images.list(carl, { ...query, marker: ids[1] })).map((image) => image.id)).toEqual(ids.slice(2));
    await expect(images.list(carl, { marker: 'nobody' })).rejects.toMatchObject({ code: 'MARKER_NOT_FOUND' });
  });

  it('can be deactivated and reactivated, and only administrators can download deactivated ones', async () => {
    const { id } = await create(ada);
    await expect(images.deactivate(ada, id)).rejects.toMatchObject({ code: 'IMAGE_WRONG_STATUS' });
    await images.upload(ada, id, Buffer.from('x'));
    expect(await images.deactivate(ada, id)).toMatchObject({ status: 'deactivated' });
    await expect(images.download(ada, id)).rejects.toMatchObject({ status: 403 });
    expect(await text(await images.download(admin, id))).toBe('x');
    expect(await images.reactivate(ada, id)).toMatchObject({ status: 'active' });
  });

  it('reject strings that the database cannot store', async () => {
    await expect(create(ada, { name: 'a\0b' })).rejects.toMatchObject({ code: 'REJECTED', status: 400 });
  });

  it('are created for unknown ids if these are accepted', async () => {
    const accepting = embeddedImages({ store, unknown: 'accept' });
    const id = randomUUID();
    await expect(images.get(ada, id)).rejects.toMatchObject({ code: 'IMAGE_NOT_FOUND' });
    expect(await accepting.get(ada, id)).toMatchObject({ id, status: 'active', visibility: 'public' });
    expect(await images.get(bob, id)).toMatchObject({ id, status: 'active' });
  });
});

it('reject unknown options', () => {
  const store = {} as Store;
  expect(() => embeddedImages({ store, unknown: 'reject all' as 'reject' })).toThrow(/"reject" or "accept"/);
  expect(() => embeddedImages({ store, maxBytes: 5 } as never)).toThrow(/unknown option "maxBytes"/);
});
