import type { Rule } from '../drivers/simulated.js';
import type { ImageSeed } from '../embedded/images/embedded-images.js';
import type { NetworkSeed } from '../embedded/networks/network-seed.js';
import type { ShareSeed } from '../embedded/shares/embedded-shares.js';
import type { VolumeSeed } from '../embedded/volumes/volume-seed.js';
import type { Flavor } from '../model/index.js';

/** A flavor of a preset. Memory and swap in MiB, disks in GiB. */
export type FlavorSeed = Pick<Flavor, 'id' | 'name' | 'vcpus' | 'memoryMb' | 'diskGb'> &
  Partial<Omit<Flavor, 'seq' | 'revision'>>;

/** A host of a preset, with what it offers. Memory in MiB, disk in GiB. */
export interface HostSeed {
  readonly name: string;
  readonly zone?: string;
  readonly vcpus: number;
  readonly memoryMb: number;
  readonly diskGb: number;
  readonly hypervisorHostname?: string;
  /** What runs machines there; default `QEMU`. */
  readonly hypervisorType?: string;
  /** Its version as one number, `major * 1,000,000 + minor * 1,000 + micro`. */
  readonly hypervisorVersion?: number;
  /** How much more than it has may be given away; defaults 16, 1.5 and 1. */
  readonly cpuAllocationRatio?: number;
  readonly ramAllocationRatio?: number;
  readonly diskAllocationRatio?: number;
}

/** An aggregate that is there from the start, with the names of its hosts. */
export interface AggregateSeed {
  readonly name: string;
  readonly hosts: readonly string[];
  readonly metadata?: Readonly<Record<string, string>>;
}

/** What happens with ids that nobody knows. */
export type Unknown = 'reject' | 'accept';

/** What a cloud has before anybody has done anything. */
export interface Preset {
  readonly flavors?: readonly FlavorSeed[];
  readonly hosts?: readonly HostSeed[];
  readonly aggregates?: readonly AggregateSeed[];
  readonly images?: readonly ImageSeed[];
  readonly networks?: NetworkSeed['networks'];
  readonly securityGroups?: NetworkSeed['securityGroups'];
  readonly volumeTypes?: VolumeSeed['types'];
  readonly volumes?: VolumeSeed['volumes'];
  readonly shares?: readonly ShareSeed[];
  readonly unknown?: {
    readonly images?: Unknown;
    readonly networks?: Unknown;
    readonly volumes?: Unknown;
    readonly shares?: Unknown;
  };
  /** Scripted behaviour of the simulated machines. */
  readonly rules?: readonly Rule[];
}

/** Five flavors, an image, a network, two hosts: enough to boot a server. Its ids are fixed. */
export const defaultPreset: Preset = {
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
