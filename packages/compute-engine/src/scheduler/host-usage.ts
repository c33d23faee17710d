/** Allocated capacity of a host. Memory is in MiB, disk in GiB. */
export interface HostUsage {
  readonly vcpus: number;
  readonly memoryMb: number;
  readonly diskGb: number;
  readonly servers: number;
}
