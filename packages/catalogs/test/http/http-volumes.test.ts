import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Caller } from '../../src/caller/caller.js';
import { httpVolumes, ServiceSession } from '../../src/http/index.js';
import type { VolumeCatalog } from '../../src/volume/volume-catalog.js';
import { type FakeIdentity, startFakeIdentity } from '../fake-services/fake-identity.js';
import { startFakeVolumes } from '../fake-services/fake-volume-service.js';

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

describe('volumes over HTTP', () => {
  let service: Awaited<ReturnType<typeof startFakeVolumes>>;
  let volumes: VolumeCatalog;

  beforeAll(async () => {
    service = await startFakeVolumes(identity.tokens);
    volumes = httpVolumes({
      url: `${service.url}/v3/`,
      session: new ServiceSession(identity.credentials),
      timeoutMs: 2000,
    });
  });
  afterAll(() => service.close());
  const create = (caller = ada, more: object = {}) =>
    volumes.createVolume(caller, { key: randomUUID(), sizeGb: 1, ...more });
  const connector = { host: 'host1', mountpoint: '/dev/vdb' };

  it('attaches and detaches a volume with the attachments API and its microversion', async () => {
    const { id } = await create();
    const serverId = randomUUID();
    const attachment = await volumes.reserve(job, { key: randomUUID(), volumeId: id, serverId });
    expect(await volumes.getVolume(job, id)).toMatchObject({ status: 'reserved' });
    const again = await volumes.reserve(job, { key: randomUUID(), volumeId: id, serverId });
    expect(again.id).toBe(attachment.id);
    expect(await volumes.connect(job, attachment.id, connector)).toMatchObject({
      status: 'attaching',
      connection: { driver_volume_type: 'fake' },
    });
    await volumes.complete(job, attachment.id);
    await volumes.complete(job, attachment.id);
    expect(await volumes.getVolume(ada, id)).toMatchObject({
      status: 'in-use',
      attachments: [{ id: attachment.id, serverId, device: '/dev/vdb' }],
    });
    await volumes.beginDetaching(job, id);
    await volumes.rollbackDetaching(job, id);
    await volumes.rollbackDetaching(job, id);
    await volumes.beginDetaching(job, id);
    await expect(volumes.beginDetaching(job, id)).rejects.toMatchObject({ code: 'VOLUME_WRONG_STATUS', status: 400 });
    await volumes.deleteAttachment(job, attachment.id);
    await volumes.deleteAttachment(job, attachment.id);
    expect(await volumes.getVolume(job, id)).toMatchObject({ status: 'available', attachments: [] });
    const versions = new Set(service.journal.map((request) => request.headers['openstack-api-version']));
    expect(versions).toEqual(new Set(['volume 3.44']));
  });

  it('filters lists of a service that ignores filters', async () => {
    const withoutFilters = await startFakeVolumes(identity.tokens, { ignoresFilters: true });
    const session = new ServiceSession(identity.credentials);
    const catalog = httpVolumes({ url: `${withoutFilters.url}/v3/`, session, timeoutMs: 2000 });
    const requests = [randomUUID(), randomUUID()].map((key) => ({ key, sizeGb: 1 }));
    const created = [];
    for (const requested of [...requests, ...requests]) created.push((await catalog.createVolume(ada, requested)).id);
    expect(created.slice(2)).toEqual(created.slice(0, 2));
    expect(created[0]).not.toBe(created[1]);
    const copies = [];
    const key = randomUUID();
    for (const volumeId of [created[0]!, created[1]!, created[0]!])
      copies.push((await catalog.createSnapshot(ada, { key, volumeId, force: true })).id);
    expect(copies[2]).toBe(copies[0]);
    expect(copies[1]).not.toBe(copies[0]);
    expect((await catalog.createSnapshot(ada, { key: randomUUID(), volumeId: created[0]!, force: true })).id).not.toBe(
      copies[0],
    );
    await withoutFilters.close();
  });

  it('rejects the reservation of a volume that another server uses', async () => {
    const { id } = await create();
    await volumes.reserve(job, { key: randomUUID(), volumeId: id, serverId: 's1' });
    await expect(volumes.reserve(job, { key: randomUUID(), volumeId: id, serverId: 's2' })).rejects.toMatchObject({
      code: 'VOLUME_WRONG_STATUS',
    });
  });

  it('creates volumes in the project of the caller, with or without its token, and returns the existing one for a repeated creation', async () => {
    const requested = { key: randomUUID(), sizeGb: 2, name: 'root', imageId: 'img', metadata: { a: '1' } };
    const first = await volumes.createVolume(job, requested);
    expect(first).toMatchObject({ projectId: 'p-ada', name: 'root', sizeGb: 2, bootable: true, status: 'creating' });
    expect(await volumes.createVolume(ada, requested)).toMatchObject({ id: first.id, status: 'available' });
    const closed = { ...job, projectId: 'closed-project' };
    await expect(create(closed)).rejects.toMatchObject({ code: 'FORBIDDEN' });
  });

  it('lists the volumes of the project for any of its callers', async () => {
    const { id } = await create(ada, { name: 'listed' });
    for (const caller of [ada, job])
      expect((await volumes.listVolumes(caller, { name: 'listed' })).map((volume) => volume.id)).toEqual([id]);
    expect(await volumes.listVolumes(otherCaller, { name: 'listed' })).toEqual([]);
    await expect(volumes.getVolume(otherCaller, id)).rejects.toMatchObject({ code: 'VOLUME_NOT_FOUND', status: 404 });
  });

  it('deletes, and treats a missing volume as deleted', async () => {
    const { id } = await create();
    const attachment = await volumes.reserve(job, { key: randomUUID(), volumeId: id, serverId: 's1' });
    await expect(volumes.deleteVolume(job, id)).rejects.toMatchObject({ code: 'VOLUME_WRONG_STATUS' });
    await volumes.deleteAttachment(job, attachment.id);
    await volumes.deleteVolume(job, id);
    await volumes.deleteVolume(job, id);
    await expect(volumes.getVolume(job, id)).rejects.toMatchObject({ code: 'VOLUME_NOT_FOUND' });
  });

  it('creates, finds and deletes snapshots', async () => {
    const { id: volumeId } = await create();
    const requested = { key: randomUUID(), volumeId, name: 'snap', force: true };
    const created = await volumes.createSnapshot(job, requested);
    expect(created).toMatchObject({ volumeId, name: 'snap', projectId: 'p-ada', status: 'available' });
    expect((await volumes.createSnapshot(job, requested)).id).toBe(created.id);
    await volumes.updateSnapshotStatus(job, created.id, 'creating', '50%');
    expect(await volumes.getSnapshot(job, created.id)).toMatchObject({ status: 'creating' });
    await volumes.deleteSnapshot(job, created.id);
    await volumes.deleteSnapshot(job, created.id);
    await expect(volumes.getSnapshot(job, created.id)).rejects.toMatchObject({ code: 'SNAPSHOT_NOT_FOUND' });
  });

  it('finds types by name or id', async () => {
    expect(await volumes.getType(job, 'fast')).toMatchObject({ id: 'type-1', name: 'fast' });
    expect(await volumes.getType(job, 'type-1')).toMatchObject({ name: 'fast' });
    await expect(volumes.getType(job, 'slow')).rejects.toMatchObject({ code: 'VOLUME_TYPE_NOT_FOUND' });
  });

  it('requests reimages and completes extensions and migrations, each with its microversion', async () => {
    const { id } = await create();
    await volumes.reimage(job, id, 'img2');
    expect(service.journal.at(-1)).toMatchObject({
      json: { 'os-reimage': { image_id: 'img2', reimage_reserved: true } },
      headers: { 'openstack-api-version': 'volume 3.68' },
    });
    service.volumes.get(id)!.status = 'extending';
    await volumes.completeExtend(job, id, true);
    expect(await volumes.getVolume(job, id)).toMatchObject({ status: 'error_extending' });
    expect(await volumes.completeMigration(job, id, 'new', false)).toBe(id);
  });

  it("acts on behalf of the caller with both tokens, and with only the service's token where only services may act", async () => {
    const { id: volumeId } = await create();
    const before = service.journal.length;
    const attachment = await volumes.reserve(ada, { key: randomUUID(), volumeId, serverId: randomUUID() });
    await volumes.connect(ada, attachment.id, connector);
    await volumes.complete(ada, attachment.id);
    await volumes.beginDetaching(ada, volumeId);
    await volumes.rollbackDetaching(ada, volumeId);
    await volumes.deleteAttachment(ada, attachment.id);
    service.volumes.get(volumeId)!.status = 'extending';
    await volumes.completeExtend(ada, volumeId, false);
    const sent = service.journal.slice(before);
    const withServiceToken = sent.filter(({ headers }) => headers['x-auth-token'] !== ada.token);
    expect(withServiceToken.map(({ method, path }) => `${method} ${path.split('/')[3]}`)).toEqual([
      'GET attachments',
      'POST volumes',
    ]);
    expect(withServiceToken[1]!.json).toHaveProperty('os-extend_volume_completion');
    for (const { headers } of sent)
      expect(identity.tokens.get(`${headers['x-service-token']}`)).toMatchObject({ admin: true });
  });

  it('distinguishes an exhausted quota from other rejections', async () => {
    await expect(create(ada, { sizeGb: 5000 })).rejects.toMatchObject({ code: 'OVER_QUOTA', kind: 'over-quota' });
  });

  it('sends the configured headers with every request', async () => {
    const session = new ServiceSession(identity.credentials);
    const traced = httpVolumes({ url: service.url, session, headers: () => ({ 'X-Openstack-Request-Id': 'req-1' }) });
    await traced.listVolumes(job);
    expect(service.journal.at(-1)!.headers['x-openstack-request-id']).toBe('req-1');
  });
});
