import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, type Client, ids } from '../api-under-test.js';
import { known } from './cloud.js';
import { type Creating, caller, creating } from './creating.js';

describe('creating servers on disks', () => {
  let api: Api;
  let ada: Client;
  let admin: Client;
  let post: Creating['post'];
  let createdServer: Creating['createdServer'];
  let volumeOf: Creating['volumeOf'];
  let close: Creating['close'];
  beforeAll(async () => {
    ({ api, ada, admin, post, createdServer, volumeOf, close } = await creating());
  });
  afterAll(() => close());

  const image = { source_type: 'image', uuid: ids.image, destination_type: 'local', boot_index: 0 };

  it('boots from an existing volume, with the metadata of its image', async () => {
    const root = { source_type: 'volume', uuid: known.rootVolume, destination_type: 'volume', boot_index: '0' };
    const fields = { imageRef: '', flavorRef: '42', block_device_mapping_v2: [root] };
    const server = await createdServer(fields);
    expect(server).toMatchObject({ status: 'ACTIVE', image: '', 'OS-EXT-SRV-ATTR:root_device_name': '/dev/vda' });
    expect(await volumeOf(known.rootVolume)).toMatchObject({
      status: 'in-use',
      attachments: [{ serverId: server.id, device: '/dev/vda' }],
    });
    await ada.delete(`/servers/${server.id}`);
    await api.idle();
    expect((await volumeOf(known.rootVolume)).status).toBe('available');
  });

  it('boots from a volume that is not marked as bootable if the request also names an image', async () => {
    const root = { source_type: 'volume', uuid: known.volume, destination_type: 'volume', boot_index: 0 };
    const server = await createdServer({ imageRef: ids.image, block_device_mapping_v2: [root] });
    expect(server).toMatchObject({ status: 'ACTIVE', image: { id: ids.image } });
    await ada.delete(`/servers/${server.id}`);
    await api.idle();
    expect((await volumeOf(known.volume)).status).toBe('available');
  });

  it('shows the requested image for any root disk, and the volume', async () => {
    const volume = { boot_index: 0, destination_type: 'volume', delete_on_termination: true };
    const snapshot = await api.engine.embedded.volumes.createSnapshot(caller, {
      key: randomUUID(),
      volumeId: known.rootVolume,
    });
    const roots = [
      { ...volume, source_type: 'image', uuid: ids.image, volume_size: 2 },
      { ...volume, source_type: 'image', uuid: known.largeImage, volume_size: 2 },
      { ...volume, source_type: 'snapshot', uuid: snapshot.id },
      { ...volume, source_type: 'blank', volume_size: 1 },
      { ...volume, source_type: 'volume', uuid: known.rootVolume, delete_on_termination: false },
      { boot_index: 0, destination_type: 'local', source_type: 'blank' },
      { boot_index: 0, destination_type: 'local', source_type: 'image', uuid: known.largeImage },
    ];
    for (const root of roots) {
      const server = await createdServer({ imageRef: ids.image, flavorRef: '45', block_device_mapping_v2: [root] });
      expect(server).toMatchObject({ status: 'ACTIVE', image: { id: ids.image } });
      const volumes = server['os-extended-volumes:volumes_attached'];
      expect(volumes).toHaveLength(root.destination_type === 'volume' ? 1 : 0);
      if (root.source_type === 'volume') expect(volumes[0].id).toBe(known.rootVolume);
      await ada.delete(`/servers/${server.id}`);
      await api.idle();
    }
    expect((await volumeOf(known.rootVolume)).status).toBe('available');
  });

  it('boots from a blank local disk without an image', async () => {
    const root = { boot_index: 0, destination_type: 'local', source_type: 'blank' };
    const server = await createdServer({ imageRef: '', flavorRef: '45', block_device_mapping_v2: [root] });
    expect(server).toMatchObject({ status: 'ACTIVE', image: '' });
    await ada.delete(`/servers/${server.id}`);
    await api.idle();
  });

  it('attaches a volume to only one of two concurrent servers', async () => {
    const root = { source_type: 'volume', uuid: known.rootVolume, destination_type: 'volume', boot_index: 0 };
    const fields = { imageRef: '', block_device_mapping_v2: [root] };
    const responses = await Promise.all(Array.from({ length: 5 }, () => post(ada, fields)));
    expect(responses.map(({ status }) => status).sort()).toEqual([202, 400, 400, 400, 400]);
    await api.idle();
    const server = responses.find(({ status }) => status === 202)!.body.server;
    expect((await volumeOf(known.rootVolume)).attachments.map((a) => a.serverId)).toEqual([server.id]);
    await ada.delete(`/servers/${server.id}`);
    await api.idle();
  });

  it('creates volumes from images and snapshots and blank ones, and deletes those with delete_on_termination', async () => {
    const snapshot = await api.engine.embedded.volumes.createSnapshot(caller, {
      key: known.nothing,
      volumeId: known.volume,
    });
    const server = await createdServer({
      flavorRef: '45',
      block_device_mapping_v2: [
        image,
        { source_type: 'blank', destination_type: 'volume', volume_size: '3', delete_on_termination: true },
        { source_type: 'snapshot', uuid: snapshot.id, destination_type: 'volume', delete_on_termination: 'true' },
        { source_type: 'blank', destination_type: 'local', guest_format: 'swap', volume_size: 512 },
        { source_type: 'blank', destination_type: 'local', disk_bus: 'scsi' },
        {
          source_type: 'volume',
          uuid: known.volume,
          destination_type: 'volume',
          device_name: 'vdf',
          boot_index: 1,
          tag: 'data',
        },
      ],
    });
    expect(server.image.id).toBe(ids.image);
    const record = await api.engine.servers.get({ caller, requestId: 'req-1', isAdmin: false }, server.id);
    expect(record.blockDevices.map(({ device, sizeGb, tag }) => [device, sizeGb, tag])).toEqual([
      ['/dev/vda', null, null],
      ['/dev/vdc', 3, null],
      ['/dev/vdd', 2, null],
      ['/dev/vdb', null, null],
      ['/dev/sda', 4, null],
      ['/dev/vdf', 2, 'data'],
    ]);
    const volumes = server['os-extended-volumes:volumes_attached'];
    expect(volumes.map((v: any) => v.delete_on_termination)).toEqual([true, true, false]);
    await ada.delete(`/servers/${server.id}`);
    await api.idle();
    expect((await volumeOf(known.volume)).status).toBe('available');
    await expect(volumeOf(volumes[0].id)).rejects.toThrow('could not be found');
  });

  it('accepts the older notation: the root disk is the first volume, or the image', async () => {
    const booted = await createdServer({
      imageRef: '',
      block_device_mapping: [{ volume_id: known.rootVolume, device_name: 'vda', delete_on_termination: false }],
    });
    expect(booted.image).toBe('');
    await ada.delete(`/servers/${booted.id}`);
    await api.idle();
    const attached = await createdServer({
      flavorRef: '45',
      block_device_mapping: [
        { volume_id: known.rootVolume, device_name: '/dev/vdb' },
        { virtual_name: 'swap', volume_size: 1 },
        { virtual_name: 'ephemeral0' },
      ],
    });
    expect([attached.image.id, attached['os-extended-volumes:volumes_attached'][0].id]).toEqual([
      ids.image,
      known.rootVolume,
    ]);
    await ada.delete(`/servers/${attached.id}`);
    await api.idle();
  });

  it('lets administrators use a flavor without a disk for a local root disk', async () => {
    expect((await post(admin, { flavorRef: '42' })).status).toBe(202);
  });

  it('accepts multiattach volumes since 2.60', async () => {
    const shared = { source_type: 'volume', uuid: known.sharedVolume, destination_type: 'volume' };
    const fields = { block_device_mapping_v2: [image, shared] };
    const [one, two] = [await createdServer(fields, { client: api.as('ada:p1', '2.60') }), await createdServer(fields)];
    expect((await volumeOf(known.sharedVolume)).attachments.map((a) => a.serverId).sort()).toEqual(
      [one.id, two.id].sort(),
    );
  });
});
