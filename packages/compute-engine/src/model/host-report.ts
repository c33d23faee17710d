/** A driver's report about its host. */
export interface HostReport {
  /** Why servers cannot start on the host, in one line for administrators; null if they can. */
  readonly problem: string | null;
  /** The file system that contains the host's disks; undefined if unknown. */
  readonly disk?: DiskSpace | undefined;
  /** The storage of volumes; undefined if this host stores none. */
  readonly volumes?: Omit<DiskSpace, 'promisedBytes'> & { readonly backend: string; readonly allocatedBytes: number };
}

/** The total and available space of a file system, in bytes. */
export interface DiskSpace {
  readonly totalBytes: number;
  /** The space that unprivileged programs can still use. */
  readonly freeBytes: number;
  /** The additional space that existing disks will need if their guests fill them. */
  readonly promisedBytes: number;
}

/** Disk space in GiB, as stored for a host. */
export interface NodeDisk {
  readonly totalGb: number;
  readonly freeGb: number;
  /** The space that remains free when all existing disks are full; negative if they do not all fit. */
  readonly leastGb: number;
}

/** The storage of volumes in GiB, as stored for a host. */
export interface NodeVolumes {
  /** The kind of the storage, such as `directory`. */
  readonly backend: string;
  readonly totalGb: number;
  readonly freeGb: number;
}
