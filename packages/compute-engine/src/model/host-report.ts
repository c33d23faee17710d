/** What a driver reports about its computer. */
export interface HostReport {
  /** Why servers cannot start on it, in one line for administrators; null: they can. */
  readonly problem: string | null;
  /** The file system of its disks; undefined: unknown. */
  readonly disk?: DiskSpace | undefined;
  /** The load of the computer, of all its programs; undefined: unknown. */
  readonly load?: HostLoad | undefined;
}

/** Counters and figures of a computer. */
export interface HostLoad {
  /** The number of its processors. */
  readonly cpus: number;
  /** The time that they have worked, in seconds since the boot, summed over all of them. */
  readonly cpuSeconds: number;
  readonly memoryBytes: number;
  /** The memory that programs can still get without swapping. */
  readonly memoryAvailableBytes: number;
  /** The traffic of its physical interfaces since the boot. */
  readonly receivedBytes: number;
  readonly transmittedBytes: number;
}

/** The space of a file system. */
export interface DiskSpace {
  readonly totalBytes: number;
  /** What unprivileged programs can still write. */
  readonly freeBytes: number;
  /** What existing disks occupy in addition once their guests have filled them. */
  readonly promisedBytes: number;
}

/** The same in GiB, as stored for a host. */
export interface NodeDisk {
  readonly totalGb: number;
  readonly freeGb: number;
  /** What remains free if existing disks are filled; negative if they cannot be. */
  readonly leastGb: number;
}
