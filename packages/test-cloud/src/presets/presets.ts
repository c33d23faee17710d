import { defaultPreset, type Preset } from '@apistrata/compute-engine';
import { stableId } from '../identity/new-id.js';
import { TINY_DISK_BYTES, tinyDisk } from './tiny-disk.js';

/** The names of the presets. */
export type PresetName = 'minimal' | 'small' | 'large';

/** The servers of a preset, which are created in bulk. */
export interface Population {
  readonly servers: number;
  /** The number of projects that own the servers. The project `demo` owns none, so that its quota stays unused. */
  readonly projects: number;
}

export interface CloudPreset {
  readonly preset: Preset;
  readonly population?: Population;
}

const HOST_COUNT = 500;

/** The volume types: the default type, and those in the engine's preset. */
const volumeTypes: Preset['volumeTypes'] = [
  { name: '__DEFAULT__', description: 'Default Volume Type' },
  ...defaultPreset.volumeTypes,
];
/** The images of the engine's preset, with an owner and downloadable content. */
const images: Preset['images'] = defaultPreset.images.map((image) => ({
  ...image,
  projectId: stableId('project', 'admin'),
  virtualSizeBytes: TINY_DISK_BYTES,
  content: tinyDisk(),
}));
/** The content that the presets have in common. */
const commonPreset: Preset = { ...defaultPreset, images, volumeTypes };

/** The presets, by name. */
export const presets: Readonly<Record<PresetName, () => CloudPreset>> = {
  /** One flavor, one image, one network and one host. */
  minimal: () => ({
    preset: {
      flavors: defaultPreset.flavors.slice(0, 1),
      hosts: defaultPreset.hosts.slice(0, 1),
      images,
      networks: defaultPreset.networks.slice(0, 1),
      volumeTypes,
    },
  }),
  /** Five flavors, an image, a private and a public network, two hosts. */
  small: () => ({ preset: commonPreset }),
  /** 500 hosts in three zones, with 100,000 servers on them. */
  large: () => ({
    preset: {
      ...commonPreset,
      hosts: Array.from({ length: HOST_COUNT }, (_, index) => ({
        name: `host${String(index + 1).padStart(3, '0')}`,
        zone: `zone${(index % 3) + 1}`,
        vcpus: 64,
        memoryMb: 262_144,
        diskGb: 16_384,
      })),
    },
    population: { servers: 100_000, projects: 100 },
  }),
};
