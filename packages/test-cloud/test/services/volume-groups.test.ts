import { describe, expect, it } from 'vitest';
import { clientOf } from '../clouds.js';
import { at, highest, volumes } from './volume-client.js';

describe('groups of volumes', () => {
  it('contain volumes of a project', async () => {
    const { request, volume } = await volumes();
    const type = (await request('GET', 'types/default')).body.volume_type.id;
    const groupType = (await request('POST', 'group_types', { group_type: { name: 'together' } })).body.group_type;
    const created = await request('POST', 'groups', {
      group: { name: 'g', group_type: groupType.id, volume_types: [type] },
    });
    expect(created.status).toBe(202);
    const { id } = created.body.group;
    const disk = await volume({ group_id: id, volume_type: type });
    expect((await request('GET', `volumes/${disk.id}`)).body.volume.group_id).toBe(id);
    expect((await request('GET', `groups/${id}?list_volume=True`)).body.group).toMatchObject({
      status: 'available',
      volumes: [disk.id],
    });
    expect((await request('POST', `groups/${id}/action`, { delete: {} })).status).toBe(400);
    expect((await request('POST', `groups/${id}/action`, { delete: { 'delete-volumes': true } })).status).toBe(202);
    expect((await request('GET', `volumes/${disk.id}`)).status).toBe(404);
  });

  it('are copied with all volumes of a group or group snapshot, or not at all', async () => {
    const { request, volume } = await volumes();
    const type = (await request('GET', 'types/default')).body.volume_type.id;
    const { group_type } = (await request('POST', 'group_types', { group_type: { name: 'together' } })).body;
    const create = { group: { name: 'g', group_type: group_type.id, volume_types: [type] } };
    const { id } = (await request('POST', 'groups', create)).body.group;
    const copy = (source: object) => request('POST', 'groups/action', { 'create-from-src': { name: 'c', ...source } });
    const empty = await copy({ source_group_id: id });
    expect(empty).toMatchObject({
      status: 400,
      body: { badRequest: { message: 'Invalid Group: Source Group is empty. No group will be created.' } },
    });
    const disks = [
      await volume({ group_id: id, volume_type: type, size: 2 }),
      await volume({ group_id: id, volume_type: type }),
    ];
    const { group_snapshot } = (await request('POST', 'group_snapshots', { group_snapshot: { group_id: id } })).body;
    const volumeSnapshots: { id: string; volume_id: string }[] = (await request('GET', 'snapshots/detail')).body
      .snapshots;
    const sources = [
      { source: { source_group_id: id }, field: 'source_volid', idFor: (disk: string) => disk },
      {
        source: { group_snapshot_id: group_snapshot.id },
        field: 'snapshot_id',
        idFor: (disk: string) => volumeSnapshots.find(({ volume_id }) => volume_id === disk)?.id,
      },
    ];
    for (const { source, field, idFor } of sources) {
      const copied = await copy(source);
      expect(copied.status).toBe(202);
      const path = `groups/${copied.body.group.id}?list_volume=True`;
      const { volumes: copies, ...group } = (await request('GET', path)).body.group;
      expect(group).toMatchObject({ source_group_id: null, group_snapshot_id: null, ...source });
      const shown = await Promise.all(
        copies.map(async (copyId: string) => (await request('GET', `volumes/${copyId}`)).body.volume),
      );
      expect(shown.map((one) => [one.size, one[field]])).toEqual([
        [2, idFor(disks[0].id)],
        [1, idFor(disks[1].id)],
      ]);
    }

    const project = (await request('GET', `volumes/${disks[0].id}`)).body.volume['os-vol-tenant-attr:tenant_id'];
    await request('PUT', `os-quota-sets/${project}`, { quota_set: { volumes: 7 } });
    expect(await copy({ source_group_id: id })).toMatchObject({
      status: 400,
      body: { badRequest: { message: "Maximum number of volumes allowed (7) exceeded for quota 'volumes'." } },
    });
    expect((await request('GET', 'volumes')).body.volumes).toHaveLength(6);
    expect((await request('GET', 'groups')).body.groups).toHaveLength(3);
  });

  it('have snapshots, which contain a snapshot of each volume', async () => {
    const { cloud, request, volume } = await volumes();
    const type = (await request('GET', 'types/default')).body.volume_type.id;
    const { group_type } = (await request('POST', 'group_types', { group_type: { name: 'together' } })).body;
    const create = { group: { name: 'g', group_type: group_type.id, volume_types: [type] } };
    const { id } = (await request('POST', 'groups', create)).body.group;
    const disks = [
      await volume({ group_id: id, volume_type: type }),
      await volume({ group_id: id, volume_type: type }),
    ];
    const other = clientOf(cloud, cloud.token('ada', 'lab'));
    const foreign = await other('POST', at('group_snapshots'), { group_snapshot: { group_id: id } }, highest);
    expect(foreign).toMatchObject({
      status: 404,
      body: { itemNotFound: { message: `Group ${id} could not be found.` } },
    });
    const created = await request('POST', 'group_snapshots', { group_snapshot: { group_id: id, name: 's' } });
    expect(created).toMatchObject({ status: 202, body: { group_snapshot: { group_type_id: group_type.id } } });
    const groupSnapshotId = created.body.group_snapshot.id;
    const list = async () => (await request('GET', 'snapshots/detail')).body.snapshots;
    const shown = await list();
    expect(shown.map((one: Record<string, string>) => [one.name, one.group_snapshot_id, one.status])).toEqual(
      disks.map(() => ['s', groupSnapshotId, 'available']),
    );
    expect(new Set(shown.map(({ volume_id }: { volume_id: string }) => volume_id))).toEqual(
      new Set(disks.map((disk) => disk.id)),
    );
    const message = 'Invalid snapshot: Snapshot status must be available or error and must not be part of a group.';
    expect(await request('DELETE', `snapshots/${shown[0].id}`)).toMatchObject({
      status: 400,
      body: { badRequest: { message } },
    });
    const removeGroup = () => request('POST', `groups/${id}/action`, { delete: { 'delete-volumes': true } });
    expect(await removeGroup()).toMatchObject({
      status: 400,
      body: { badRequest: { message: 'Invalid Group: Group has existing snapshots.' } },
    });
    expect((await request('DELETE', `group_snapshots/${groupSnapshotId}`)).status).toBe(202);
    expect(await list()).toEqual([]);
    const single = (await request('POST', 'snapshots', { snapshot: { volume_id: disks[0].id } })).body.snapshot;
    expect(await removeGroup()).toMatchObject({
      status: 400,
      body: { badRequest: { message: 'Invalid Group: Volume in group still has dependent snapshots.' } },
    });
    await request('DELETE', `snapshots/${single.id}`);
    expect((await removeGroup()).status).toBe(202);
  });
});
