/** A power action on a host. */
export type HostPowerAction = 'startup' | 'shutdown' | 'reboot';

/** Driver operations on hosts. Drivers may omit operations that they do not support. */
export interface HostControl {
  /** Returns the uptime and load of a host in the format of the command `uptime`, or null if they are unknown. */
  hostUptime(host: string): Promise<string | null>;
  /** Executes a power action on a host. Returns a message for the administrator. */
  hostPower(host: string, action: HostPowerAction): Promise<string>;
  /** Starts or ends maintenance of a host. */
  hostMaintenance(host: string, on: boolean): Promise<void>;
  /** Downloads images to a host before a server needs them. */
  cacheImages(host: string, imageIds: readonly string[]): Promise<void>;
}
