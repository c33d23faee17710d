import type { Catalogs } from '@apistrata/catalogs';
import type { StoreObserver } from '@apistrata/record-store';
import { checkOptions, type DatabaseSettings, defaultDatabaseSettings } from '@apistrata/record-store/options';
import type { Clock } from '../clock/clock.js';
import { defaultSettings } from '../core/settings.js';
import type { Driver } from '../drivers/driver.js';
import type { DriverServices } from '../drivers/driver-services.js';
import type { FenceAction } from '../drivers/fence-guard.js';
import type { HostSeed } from '../preset/preset.js';
import type { HostKeyOptions, SecretKeyOptions } from '../secrets/sealer-for.js';
import type { HostResources } from './machine-resources.js';

/** Options for `createHost()`. */
export interface HostOptions extends Partial<DatabaseSettings>, SecretKeyOptions, HostKeyOptions {
  /**
   * `postgres://...`: the database of the API processes. The host also needs a key: `hostKey`, or the secret key of
   * these processes.
   */
  readonly database: string;
  /** Name of the host, its service and its node; must be unique among all hosts. */
  readonly name: string;
  /** The driver that runs machines on this computer. */
  readonly driver: Driver | ((clock: Clock, services: DriverServices) => Driver | Promise<Driver>);
  /** Capacity and description of the host. Cores, memory (MiB) and disk (GiB) are detected if they are omitted. */
  readonly resources?: Partial<Omit<HostSeed, 'name'>>;
  /** Capacity reserved for the computer itself. Default: 512 MiB of memory. */
  readonly reserved?: Partial<HostResources>;
  /** A directory on the disk whose size the host reports. Default: the working directory. */
  readonly directory?: string;
  /**
   * Address that administrators see and other processes connect to. Default: the computer's first non-internal address.
   */
  readonly address?: string;
  /**
   * Port for connections from other hosts and API processes, used for moving machines and for consoles; default 0: any
   * free port. Traffic is encrypted and requires the secret key.
   */
  readonly port?: number;
  /** Address to listen on if it differs from `address`, for example behind NAT. */
  readonly listen?: string;
  /** Services that replace embedded ones, as for `createEngine`. */
  readonly catalogs?: Partial<Catalogs>;
  /**
   * Directory with image content, as for `createEngine`. Share it with the API processes, or omit this option in all
   * processes.
   */
  readonly imageDirectory?: string;
  /** The clock of the host. Default: the system clock. */
  readonly clock?: Clock;
  /** Maximum number of concurrent requests; default 256. */
  readonly concurrency?: number;
  /** Interval between heartbeats; default 10,000 ms. A service without a heartbeat for `serviceDownSeconds` is down. */
  readonly heartbeatMs?: number;
  /**
   * Duration of the lease on the host name; default 10,000 ms. After a crash, the next process waits until it expires.
   */
  readonly leaseMs?: number;
  /**
   * Seconds without a heartbeat after which another host counts as down, and its routers move to other hosts.
   * Default 60.
   */
  readonly serviceDownSeconds?: number;
  /**
   * What happens to the machines after two thirds of `serviceDownSeconds` without a heartbeat, before other hosts may
   * start the same servers: `stop` switches them off, `pause` pauses them until the database is reachable. Default
   * `off`: they keep running.
   */
  readonly fence?: FenceAction | 'off';
  /** Observes the database connections of this process, for metrics. */
  readonly observer?: Pick<StoreObserver, 'statement' | 'pool' | 'commit'> | undefined;
  /** Called with each error after which the host retries the failed operation. */
  readonly onError?: (error: unknown) => void;
  /** Called after another process has taken over this host, and this process has released all its resources. */
  readonly onLost?: () => void;
}

const optionNames: Readonly<Record<keyof HostOptions, unknown>> = {
  ...defaultDatabaseSettings,
  secretKey: true,
  secretKeyFile: true,
  hostKey: true,
  hostKeyFile: true,
  database: true,
  name: true,
  driver: true,
  resources: true,
  reserved: true,
  directory: true,
  address: true,
  port: true,
  listen: true,
  catalogs: true,
  imageDirectory: true,
  clock: true,
  concurrency: true,
  heartbeatMs: true,
  leaseMs: true,
  serviceDownSeconds: true,
  fence: true,
  observer: true,
  onError: true,
  onLost: true,
};

const DEFAULT_HOST_OPTIONS = {
  concurrency: 256,
  heartbeatMs: 10_000,
  leaseMs: 10_000,
  serviceDownSeconds: defaultSettings.serviceDownSeconds,
  fence: 'off',
} as const;

/**
 * Returns the options with their defaults.
 * @throws TypeError if an option is invalid
 */
export function checkHostOptions(
  givenOptions: HostOptions,
): HostOptions & Required<Pick<HostOptions, keyof typeof DEFAULT_HOST_OPTIONS>> {
  checkOptions('createHost()', givenOptions, optionNames);
  if (!/^postgres(ql)?:\/\//.test(givenOptions.database))
    throw new TypeError(
      'createHost(): host processes require a PostgreSQL database (postgres://...); with SQLite, the process that serves the API runs the machines',
    );
  if (!/^[\w.-]{1,255}$/.test(givenOptions.name ?? ''))
    throw new TypeError('createHost(): name must have 1 to 255 letters, digits, dots, dashes and underscores');
  const options = { ...DEFAULT_HOST_OPTIONS, ...givenOptions };
  const { fence, heartbeatMs, serviceDownSeconds } = options;
  if (!['off', 'stop', 'pause'].includes(fence))
    throw new TypeError(`createHost(): fence must be off, stop or pause; it is ${JSON.stringify(fence)}`);
  if (fence !== 'off' && heartbeatMs * 3 > serviceDownSeconds * 1000)
    throw new TypeError('createHost(): if fence is set, heartbeatMs must be at most a third of serviceDownSeconds');
  return options;
}
