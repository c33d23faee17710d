import type { Stored } from '@apistrata/record-store';
import type { NodeDisk, NodeVolumes } from './host-report.js';

/** A service of the compute system: `nova-compute` on each host, control services elsewhere. */
export interface Service extends Stored {
  /** UUID. */
  readonly id: string;
  readonly host: string;
  readonly binary: string;
  readonly disabled: boolean;
  readonly disabledReason: string | null;
  readonly forcedDown: boolean;
  /**
   * Time of the last heartbeat; null if there was none. Hosts of the simulated driver are up while their process runs.
   */
  readonly lastSeenAt: number | null;
  /** Whether this process represents the host, so that the service is up while the process runs. */
  readonly embedded: boolean;
  readonly createdAt: number;
  readonly updatedAt: number | null;
}

/** A host that is a separate process, with the capabilities of its driver. */
export interface HostProcess {
  /** Name of the driver. */
  readonly driver: string;
  /** Verbs that the driver does not support. */
  readonly cannot: readonly string[];
  /** Whether machines can move to another host with their disks. */
  readonly canMove: boolean;
  /** Disk format of snapshots; null for the format of the server's image. */
  readonly snapshotFormat: string | null;
  /** Address at which other processes of the cloud reach the host's driver; undefined if it accepts no connections. */
  readonly link?: {
    readonly address: string;
    readonly port: number;
    /** The public key for connections to this host, in base64url. */
    readonly publicKey: string;
  };
  /** Whether the host stores the volume content of the embedded volume service. */
  readonly keepsVolumes?: boolean;
  /** Since when the host stores volumes; undefined for a host that has stored them since before this was recorded. */
  readonly keepsVolumesSince?: number;
  /** Name of the storage that contains the host's disks, if other hosts can also access it. */
  readonly storage?: string;
  /**
   * Whether the host's machines are stopped or paused before the host counts as down, even if its process is not
   * running.
   */
  readonly fences?: boolean;
  /** The UDP port for tunnels to the host's networks; undefined if they are not connected to other hosts. */
  readonly tunnelPort?: number;
  /** The WireGuard endpoint of the host; undefined if its tunnels are not encrypted. */
  readonly wireguard?: {
    /** The public key of the endpoint, in base64. */
    readonly publicKey: string;
    /** The UDP port of the endpoint. */
    readonly port: number;
  };
}

/** The capacity of a host in one resource class. */
export interface Inventory {
  readonly total: number;
  /** The part of the total that servers cannot use. */
  readonly reserved: number;
  /** One server can have an amount from `minUnit` to `maxUnit` that is a multiple of `stepSize`. */
  readonly minUnit: number;
  readonly maxUnit: number;
  readonly stepSize: number;
  /** Capacity that servers can claim, as a multiple of the unreserved total. */
  readonly allocationRatio: number;
}

/** A value that extra specs compare with operators. */
export type CapabilityValue = string | number | boolean | readonly (string | number)[];

/** The processors of a host, as the compute API shows them. */
export interface CpuInfo {
  /** The architecture, such as `x86_64`. */
  readonly arch: string;
  readonly model: string;
  /** The vendor, such as `Intel` or `AMD`. */
  readonly vendor: string;
  /** Names of CPU features, such as `pge`. */
  readonly features: readonly string[];
  readonly topology: {
    /** Number of NUMA cells; undefined if unknown. */
    readonly cells?: number | undefined;
    /** Number of sockets in each cell. */
    readonly sockets: number;
    /** Number of cores in each socket. */
    readonly cores: number;
    /** Number of threads in each core. */
    readonly threads: number;
  };
}

/**
 * Inventories, traits and capabilities that a driver provides on every host, in addition to those that the host itself
 * declares.
 */
export interface DriverOffer {
  readonly inventories?: Readonly<Record<string, Inventory>>;
  /** Standard or `CUSTOM_` traits. */
  readonly traits?: readonly string[];
  readonly capabilities?: Readonly<Record<string, CapabilityValue>>;
  /** A description of this computer's processors. Default: that of an example processor. */
  readonly cpuInfo?: CpuInfo;
}

/** A compute node with its capacity; its claims are counted in scheduler/claims.ts. Memory is in MiB, disks in GiB. */
export interface Node extends Stored {
  /** UUID. */
  readonly id: string;
  readonly host: string;
  readonly hypervisorHostname: string;
  readonly hypervisorType: string;
  readonly hypervisorVersion: number;
  readonly hostIp: string;
  readonly cpuInfo: CpuInfo;
  readonly vcpus: number;
  readonly memoryMb: number;
  readonly localGb: number;
  readonly cpuAllocationRatio: number;
  readonly ramAllocationRatio: number;
  readonly diskAllocationRatio: number;
  /**
   * Inventories by resource class, which add to the capacity in the other fields or replace it; null means no capacity
   * of the class.
   */
  readonly inventories: Readonly<Record<string, Inventory | null>>;
  readonly traits: readonly string[];
  /** Values for extra specs `capabilities:NAME`, in addition to those that the engine provides. */
  readonly capabilities: Readonly<Record<string, CapabilityValue>>;
  /** The file system that contains the host's disks, as last reported; undefined if unknown. */
  readonly disk?: NodeDisk;
  /** The storage of volumes on the host, as last reported. */
  readonly volumes?: NodeVolumes;
  /** The separate process of the host; null if the API processes run the machines themselves. */
  readonly process: HostProcess | null;
  readonly createdAt: number;
}

/** A host aggregate; its availability zone is also stored in its metadata item `availability_zone`. */
export interface Aggregate extends Stored {
  /** UUID. API paths use the number `seq` instead. */
  readonly id: string;
  readonly name: string;
  readonly hosts: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly createdAt: number;
  readonly updatedAt: number | null;
}
