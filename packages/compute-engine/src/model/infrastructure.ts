import type { Stored } from '@apistrata/record-store';

/** A service of the compute system: `nova-compute` on each host, control services elsewhere. */
export interface Service extends Stored {
  /** UUID. */
  readonly id: string;
  readonly host: string;
  readonly binary: string;
  readonly disabled: boolean;
  readonly disabledReason: string | null;
  readonly forcedDown: boolean;
  /** Last sign of life; null when there never was one. Hosts of the simulated driver are alive with the process. */
  readonly lastSeenAt: number | null;
  /** True when this process itself stands for the host, so it is alive while the process is. */
  readonly embedded: boolean;
  readonly createdAt: number;
  readonly updatedAt: number | null;
}

/** A host that is a process of its own: what its driver can do. */
export interface HostProcess {
  /** Name of the driver. */
  readonly driver: string;
  /** Verbs of the driver that it cannot do. */
  readonly cannot: readonly string[];
  /** Whether machines can go to another host with their disks. */
  readonly canMove: boolean;
  /** The disk format of snapshots; null: that of the image which a server was made from. */
  readonly snapshotFormat: string | null;
  /** Where other processes of the cloud reach its driver; left out: nowhere. */
  readonly link?: { readonly address: string; readonly port: number };
  /** Whether the content of embedded volumes is there. */
  readonly keepsVolumes?: boolean;
  /** The storage that its machines' disks are on, where it is shared with other hosts. */
  readonly storage?: string;
  /** The UDP port at which its networks meet those of other hosts; left out: they do not. */
  readonly tunnelPort?: number;
}

/** What a machine offers; what is claimed of it is counted in store/claims.ts. Memory in MiB, disks in GiB. */
export interface Node extends Stored {
  /** UUID. */
  readonly id: string;
  readonly host: string;
  readonly hypervisorHostname: string;
  readonly hypervisorType: string;
  readonly hypervisorVersion: number;
  readonly hostIp: string;
  readonly cpuInfo: Readonly<Record<string, unknown>>;
  readonly vcpus: number;
  readonly memoryMb: number;
  readonly localGb: number;
  readonly cpuAllocationRatio: number;
  readonly ramAllocationRatio: number;
  readonly diskAllocationRatio: number;
  /** Null where the processes that serve the API run the machines themselves. */
  readonly process: HostProcess | null;
  readonly createdAt: number;
}

/** A host aggregate; its zone is also its metadata item `availability_zone`. */
export interface Aggregate extends Stored {
  /** UUID. The number that paths use is `seq`. */
  readonly id: string;
  readonly name: string;
  readonly hosts: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly createdAt: number;
  readonly updatedAt: number | null;
}
