import { randomUUID } from 'node:crypto';
import type { Caller } from '../../src/caller/caller.js';
import { embeddedImages } from '../../src/image/builtin/embedded-images.js';
import { embeddedVolumes } from '../../src/volume/builtin/embedded-volumes.js';
import type { NewVolume } from '../../src/volume/volume-catalog.js';
import type { StoreUnderTest } from '../stores-under-test.js';

export const ada: Caller = { userId: 'ada', projectId: 'p-ada', roles: ['member', 'reader'] };
export const bob: Caller = { userId: 'bob', projectId: 'p-bob', roles: ['member', 'reader'] };
export const admin: Caller = { userId: 'root', projectId: 'p-root', roles: ['admin'], isAdmin: true };
export const CIRROS = '11111111-1111-4111-8111-111111111111';

export const preset = {
  volumeTypes: [{ name: '__DEFAULT__' }, { name: 'shared', extraSpecs: { multiattach: '<is> True' } }],
  volumes: [{ id: randomUUID(), projectId: 'p-ada', name: 'seeded', sizeGb: 3 }],
};

/** Opens an embedded volume catalog with a separate database, one image and the preset above. */
export async function volumesUnderTest(open: StoreUnderTest['open']) {
  const { store, close } = await open();
  const images = embeddedImages({ store });
  await images.seed([{ id: CIRROS, name: 'cirros', minDiskGb: 2, properties: { os_distro: 'cirros' } }]);
  const extended: string[] = [];
  const volumes = embeddedVolumes({
    store,
    images,
    onVolumeExtended: (server, volume) => extended.push(`${server} ${volume}`),
  });
  await volumes.seed(preset);
  return {
    store,
    volumes,
    /** The notifications about extended volumes: the ids of the server and the volume. */
    extended,
    close,
    create: (more: Partial<NewVolume> = {}, caller = ada) =>
      volumes.createVolume(caller, { key: randomUUID(), sizeGb: 1, ...more }),
  };
}

export type VolumesUnderTest = Awaited<ReturnType<typeof volumesUnderTest>>;
