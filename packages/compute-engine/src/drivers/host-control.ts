/** How a host is switched. */
export type HostPowerAction = 'startup' | 'shutdown' | 'reboot';

/** What a driver may be able to do with its hosts themselves. What is left out it cannot do. */
export interface HostControl {
  /** How long a host has run and how busy it is, as the command `uptime` writes it; null when it does not tell. */
  hostUptime(host: string): Promise<string | null>;
  /** Switches a host, and gives what is shown of that to the administrator. */
  hostPower(host: string, action: HostPowerAction): Promise<string>;
  /** Begins or ends the maintenance of a host. */
  hostMaintenance(host: string, on: boolean): Promise<void>;
  /** Fetches images before a server needs them. */
  cacheImages(host: string, imageIds: readonly string[]): Promise<void>;
}
