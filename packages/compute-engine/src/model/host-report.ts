/** What a driver reports about its computer. */
export interface HostReport {
  /** Why servers cannot start on it, in one line for administrators; null: they can. */
  readonly problem: string | null;
  /** The file system of its disks; undefined: unknown. */
  readonly disk?: DiskSpace | undefined;
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
