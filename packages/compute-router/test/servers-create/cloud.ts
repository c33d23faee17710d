import { defaultPreset, type Preset } from '@apistrata/compute-engine';
import { type Api, type ApiOptions, apiUnderTest, ids } from '../api-under-test.js';

const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

/** Ids of the resources that the cloud below has in addition to those in the default preset. */
export const known = {
  bigImage: uuid(1),
  largeImage: uuid(2),
  sleepingImage: uuid(3),
  pinnedImage: uuid(4),
  volume: uuid(11),
  rootVolume: uuid(12),
  busyVolume: uuid(13),
  sharedVolume: uuid(14),
  foreignVolume: uuid(15),
  secondNetwork: uuid(21),
  groupA: uuid(31),
  groupB: uuid(32),
  groupC: uuid(33),
  nothing: uuid(99),
} as const;

const volume = { projectId: 'p1', sizeGb: 2 };

/** A cloud in which requests can violate every rule for creating servers. */
export const cloudPreset: Preset = {
  ...defaultPreset,
  hosts: [
    { name: 'host1', zone: 'east', vcpus: 64, memoryMb: 262_144, diskGb: 4096, hypervisorHostname: 'node1' },
    { name: 'host2', zone: 'west', vcpus: 64, memoryMb: 262_144, diskGb: 4096, hypervisorHostname: 'node2' },
  ],
  flavors: [
    ...defaultPreset.flavors!,
    { id: '42', name: 'm1.nano', vcpus: 1, memoryMb: 128, diskGb: 0 },
    { id: '43', name: 'off', vcpus: 1, memoryMb: 128, diskGb: 1, disabled: true },
    { id: '44', name: 'private', vcpus: 1, memoryMb: 128, diskGb: 1, isPublic: false, projects: ['p9'] },
    { id: '45', name: 'swap', vcpus: 1, memoryMb: 128, diskGb: 1, swapMb: 512, ephemeralGb: 4 },
    { id: '46', name: 'pinned', vcpus: 1, memoryMb: 128, diskGb: 1, extraSpecs: { 'hw:cpu_policy': 'shared' } },
  ],
  images: [
    ...defaultPreset.images!,
    { id: known.bigImage, name: 'big', visibility: 'public', minDiskGb: 30 },
    { id: known.largeImage, name: 'hungry', visibility: 'public', minRamMb: 1024 },
    { id: known.sleepingImage, name: 'queued', visibility: 'public', status: 'queued' },
    { id: known.pinnedImage, name: 'pinned', visibility: 'public', properties: { hw_cpu_policy: 'dedicated' } },
  ],
  volumeTypes: [{ name: 'standard' }],
  volumes: [
    { ...volume, id: known.volume },
    { ...volume, id: known.rootVolume, bootable: true, imageMetadata: { image_id: ids.image, os_distro: 'beos' } },
    { ...volume, id: known.busyVolume, status: 'in-use' },
    { ...volume, id: known.sharedVolume, multiattach: true },
    { ...volume, id: known.foreignVolume, projectId: 'p2' },
  ],
  securityGroups: [
    { id: known.groupA, name: 'web', projectId: 'p1' },
    { id: known.groupB, name: 'twice', projectId: 'p1' },
    { id: known.groupC, name: 'twice', projectId: 'p1' },
  ],
};

/** A valid request for a server. */
export const plain = { name: 'web', flavorRef: ids.tiny, imageRef: ids.image, networks: 'none' as const };

export function cloud(options: ApiOptions = {}): Promise<Api> {
  return apiUnderTest({ preset: cloudPreset, ...options });
}
