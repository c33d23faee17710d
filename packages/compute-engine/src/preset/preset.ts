import type { z } from 'zod';
import type { presetSchema } from './preset-schema.js';

/** A deeply read-only version of a type. */
type DeepReadonly<T> = T extends Uint8Array | RegExp | ((...given: never[]) => unknown)
  ? T
  : T extends readonly (infer PresetItem)[]
    ? readonly DeepReadonly<PresetItem>[]
    : T extends object
      ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
      : T;

/** The initial content of a cloud. Its schema, which also validates files, describes each field. */
export type Preset = DeepReadonly<z.input<typeof presetSchema>>;

type PresetItem<K extends keyof Preset> = Required<Preset>[K] extends readonly (infer One)[] ? One : never;

/** A flavor of a preset. Memory and swap are in MiB, disks in GiB. */
export type FlavorSeed = PresetItem<'flavors'>;
/** A host of a preset with its capacity. Memory is in MiB, disk in GiB. */
export type HostSeed = PresetItem<'hosts'>;
/** An aggregate of a preset, with the names of its hosts. */
export type AggregateSeed = PresetItem<'aggregates'>;
/** An image of a preset. Its default status is `active`; without `content`, it is empty. */
export type ImageSeed = PresetItem<'images'>;
/** A network of a preset. Without a project, it is shared. */
export type NetworkSeed = PresetItem<'networks'>;
/** A security group of a preset, with its rules. */
export type SecurityGroupSeed = PresetItem<'securityGroups'>;
/** A volume type of a preset. */
export type VolumeTypeSeed = PresetItem<'volumeTypes'>;
/** A volume of a preset. Its size is in GiB. */
export type VolumeSeed = PresetItem<'volumes'>;
/** A share of a preset; omitted fields have defaults. Its size is in GiB. */
export type ShareSeed = PresetItem<'shares'>;

/** Five flavors, two hosts, an image, two networks and a volume type: enough to boot a server. The ids are fixed. */
export const defaultPreset: Preset &
  Required<Pick<Preset, 'flavors' | 'hosts' | 'images' | 'networks' | 'volumeTypes'>> = {
  flavors: [
    { id: '1', name: 'm1.tiny', vcpus: 1, memoryMb: 512, diskGb: 1 },
    { id: '2', name: 'm1.small', vcpus: 1, memoryMb: 2048, diskGb: 20 },
    { id: '3', name: 'm1.medium', vcpus: 2, memoryMb: 4096, diskGb: 40 },
    { id: '4', name: 'm1.large', vcpus: 4, memoryMb: 8192, diskGb: 80 },
    { id: '5', name: 'm1.xlarge', vcpus: 8, memoryMb: 16384, diskGb: 160 },
  ],
  hosts: [
    { name: 'host1', vcpus: 64, memoryMb: 262_144, diskGb: 4096 },
    { name: 'host2', vcpus: 64, memoryMb: 262_144, diskGb: 4096 },
  ],
  images: [
    {
      id: '70a599e0-31e7-49b7-b260-868f441e862b',
      name: 'cirros',
      visibility: 'public',
      diskFormat: 'qcow2',
      containerFormat: 'bare',
    },
  ],
  networks: [
    {
      id: '2e2b1f4c-5c58-4f0c-9a3b-0f6a5d1c7e10',
      name: 'private',
      subnets: [{ id: '7d3c1b52-0c8e-4b8e-8f7a-6f0f6b7f3d21', name: 'private-subnet', cidr: '10.0.0.0/16' }],
    },
    {
      id: '5f3c0c1e-8a5c-4c0a-bd52-6c2a1d3a9b31',
      name: 'public',
      external: true,
      subnets: [{ id: '0d6f6c0a-9f0e-4bfb-9a7e-2f6b7e7f4a42', name: 'public-subnet', cidr: '203.0.113.0/24' }],
    },
  ],
  volumeTypes: [{ name: 'standard' }],
};
