import type { Duplex } from 'node:stream';
import type { ImageContent, VolumeStorage } from '@apistrata/catalogs';
import type {
  BlockDevice,
  DriverOffer,
  FlavorCopy,
  HostReport,
  MoveProgress,
  PowerState,
  Server,
  ServerInterface,
  ServerShare,
  TaskState,
} from '../model/index.js';
import type { FenceAction, FenceGuard } from './fence-guard.js';
import type { HostControl } from './host-control.js';
import type { HostRequester, LinkResponse } from './host-links.js';

export type { DiskSpace, HostReport, MoveProgress } from '../model/index.js';
export type { HostControl, HostPowerAction } from './host-control.js';
export type { HostLinks, HostRequester, KnownHost, LinkResponse } from './host-links.js';

/** A command for a machine, with the data that the command needs in addition to the server record. */
export type DriverWork =
  /**
   * A preparation step, such as setting up networks. It does not change the machine. Drivers that have nothing to
   * prepare declare it as unsupported, so that it takes no round trip to the host.
   */
  | { readonly verb: 'prepare'; readonly step: TaskState }
  | {
      readonly verb: 'spawn';
      readonly adminPassword: string | null;
      readonly files: readonly { path: string; contents: string }[];
    }
  | { readonly verb: 'destroy' }
  | {
      readonly verb:
        | 'power_on'
        | 'power_off'
        | 'pause'
        | 'unpause'
        | 'suspend'
        | 'resume'
        | 'unrescue'
        | 'crash_dump'
        | 'soft_delete'
        | 'restore'
        | 'inject_network_info'
        /**
         * Removes the server's resources from this host after the server has moved to another host. Resources that both
         * hosts share remain.
         */
        | 'leave';
    }
  | { readonly verb: 'reboot'; readonly type: 'SOFT' | 'HARD' }
  | { readonly verb: 'rescue'; readonly imageId: string; readonly adminPassword: string }
  | {
      readonly verb: 'rebuild';
      readonly imageId: string;
      readonly adminPassword: string | null;
      readonly preserveEphemeral: boolean;
      readonly files: readonly { path: string; contents: string }[];
    }
  | {
      readonly verb: 'evacuate';
      readonly sourceHost: string;
      readonly adminPassword: string | null;
      /** Whether the disks are on shared storage, according to the request; null if the driver must detect it. */
      readonly sharedStorage: boolean | null;
    }
  | { readonly verb: 'set_password'; readonly adminPassword: string }
  | { readonly verb: 'snapshot'; readonly imageId: string }
  /**
   * Flushes the guest's writes to its disks and blocks further writes until `unquiesce`, so that its volumes can be
   * copied. The guest resumes automatically after `seconds`. With `again`, the command extends an existing freeze to
   * `seconds` from now, and fails if the guest has resumed. `by` identifies the requester. Several requesters may
   * freeze the same guest; it resumes when the last of them releases it.
   */
  | { readonly verb: 'quiesce'; readonly by: string; readonly seconds: number; readonly again: boolean }
  | { readonly verb: 'unquiesce'; readonly by: string }
  | { readonly verb: 'migrate_disk'; readonly destHost: string; readonly flavor: FlavorCopy }
  | {
      readonly verb: 'finish_migration';
      readonly flavor: FlavorCopy;
      readonly powerOn: boolean;
      /** The host that has the disks: another host or, after a revert, this host. */
      readonly sourceHost: string;
    }
  | { readonly verb: 'confirm_migration' | 'revert_migration'; readonly sourceHost: string }
  /**
   * The steps of a live migration: queue, prepare the destination, copy the memory, release the source. The last two
   * verbs end a running migration early: `force_complete` pauses the server until the migration is complete, and
   * `abort` aborts the migration.
   */
  | {
      readonly verb:
        | 'live_migration_queue'
        | 'live_migration_prepare'
        | 'live_migration_run'
        | 'live_migration_finish'
        | 'live_migration_force_complete'
        | 'live_migration_abort';
      readonly destHost: string;
    }
  | { readonly verb: 'shelve_offload' }
  | { readonly verb: 'unshelve'; readonly imageId: string | null }
  | { readonly verb: 'attach_volume' | 'detach_volume' | 'extend_volume'; readonly device: BlockDevice }
  | { readonly verb: 'swap_volume'; readonly device: BlockDevice; readonly newVolumeId: string }
  | { readonly verb: 'attach_interface' | 'detach_interface'; readonly interface: ServerInterface }
  | { readonly verb: 'attach_share' | 'detach_share'; readonly share: ServerShare };

/** Name of a driver command. */
export type DriverVerb = DriverWork['verb'];

/** The action and the request that a driver command belongs to. */
export interface WorkOrigin {
  /** The name of the action. */
  readonly action: string;
  readonly requestId: string;
}

/** Diagnostics of a running server. Unknown values are null. Field names contain the units. */
export interface Diagnostics {
  readonly state: string;
  readonly driver: string;
  readonly hypervisor: string | null;
  readonly hypervisorOs: string | null;
  readonly uptimeSeconds: number | null;
  readonly configDrive: boolean;
  readonly cpus: readonly {
    readonly id: number | null;
    readonly timeNs: number | null;
    readonly utilisation: number | null;
  }[];
  readonly nics: readonly {
    readonly macAddress: string;
    readonly rxBytes: number;
    readonly rxPackets: number;
    readonly rxErrors: number;
    readonly rxDrop: number;
    readonly txBytes: number;
    readonly txPackets: number;
    readonly txErrors: number;
    readonly txDrop: number;
  }[];
  readonly disks: readonly {
    readonly name: string;
    readonly readBytes: number;
    readonly readRequests: number;
    readonly writeBytes: number;
    readonly writeRequests: number;
    readonly errors: number;
  }[];
  readonly memoryMaximumMb: number | null;
  readonly memoryUsedMb: number | null;
}

/** The reason why a machine currently cannot execute a supported command, as a message for the caller. */
export interface UnsupportedReason {
  /**
   * How the request is rejected: 409 if the server's state prevents the command, 501 if the machine does not support
   * it.
   */
  readonly code: 'CONFLICT' | 'NOT_SUPPORTED';
  readonly message: string;
}

/** The address at which the console proxy reaches a console. */
export interface ConsoleEndpoint {
  readonly host: string;
  readonly port: number;
  /** The TLS port; only for spice-direct, if the machine uses TLS. */
  readonly tlsPort?: number | null;
  readonly internalAccessPath: string | null;
}

/**
 * Creates and controls machines. A command may be repeated after a crash, so each verb must be idempotent. If `perform`
 * rejects, the action fails, and administrators can read the error message.
 */
export interface Driver extends Partial<HostControl> {
  readonly name: string;
  /** Executes a command on the server's host. `signal` is aborted when the result is no longer needed. */
  perform(work: DriverWork, server: Server, signal: AbortSignal, origin: WorkOrigin): Promise<void>;
  /** Returns whether `perform` completes without waiting, so that intermediate states need not be stored. */
  isSynchronous?(work: DriverWork, server: Server, origin: WorkOrigin): boolean;
  /**
   * Returns false for commands that no machine of this driver supports; API requests that need them are rejected.
   * Default: true.
   */
  supports?(verb: DriverVerb): boolean;
  /**
   * Returns what prevents the server's machine from executing a command, or null if nothing does. Called during API
   * requests for `set_password` and `quiesce`, which need the guest's cooperation. Also called for
   * `live_migration_prepare` on the source host of a live migration, as the pre-check before anything is transferred;
   * only in this case is `destHost` set. Default: null.
   */
  obstacle?(verb: DriverVerb, server: Server, destHost?: string): Promise<UnsupportedReason | null>;
  /** Whether disks can move to another host. If false, a resized server stays on its host. Default: true. */
  readonly canMove?: boolean;
  /**
   * The resource classes, traits and capabilities of this driver's hosts, which flavors can require. Read at startup,
   * by a host process or by an engine that runs machines itself. Default: only those that are declared for each host.
   */
  readonly offer?: DriverOffer;
  /** Disk format of snapshots (`qcow2`, ...); default: the format of the server's image. */
  readonly snapshotFormat?: string;
  /** Returns the content of a snapshot that the command `snapshot` has created. Default: empty content. */
  snapshotContent?(server: Server, imageId: string): ImageContent | Promise<ImageContent>;
  /**
   * Returns the ids of the servers that have resources on this computer, for periodic checks of power states, for guest
   * statistics, and for host processes, which remove resources of servers that have left the host. If omitted, host
   * processes remove only the resources of evacuated servers.
   */
  machines?(): Promise<readonly string[]>;
  /**
   * Stops or pauses all running machines on this computer, without access to the database. Resolves to the ids of their
   * servers once none of these machines is running. A host process that cannot reach the database calls this
   * repeatedly, before other hosts may start its servers. Machines that do not respond within `withinMs` are killed. If
   * omitted, the driver does not support fencing.
   */
  fence?(action: FenceAction, withinMs: number): Promise<readonly string[]>;
  /**
   * A process that fences the machines if the host process cannot. Drivers whose machines outlive the host process need
   * a guard, because without one, machines are assumed to end with that process. If `perform` rejects with the code
   * `HOST_FENCED`, the machine must not run until the next heartbeat, and the command is retried.
   */
  readonly guard?: FenceGuard;
  /**
   * Returns the power state of a server's machine, or null if it is currently unknown. Default: the state that the
   * engine stored.
   */
  powerState?(server: Server): Promise<PowerState | null>;
  /** Returns whether a machine is off because its computer was powered off or restarted. Default: false. */
  hasStoppedWithHost?(server: Server): Promise<boolean>;
  /**
   * Calls a listener with the id of each server whose machine may have changed its power state without a command, for
   * example because the guest shut down or its process was killed. The engine then reads `powerState`, so redundant
   * calls have no effect.
   *
   * @returns a function that unsubscribes
   */
  onPowerChange?(listener: (serverId: string) => void): () => void;
  /**
   * Returns the state of this computer. While a problem is reported, the compute services of its hosts are disabled.
   * Called every few seconds, and by health checks. Default: no problem is reported.
   */
  hostReport?(): Promise<HostReport>;
  /**
   * Calls a listener when the result of `hostReport` may have changed.
   *
   * @returns a function that unsubscribes
   */
  onHostChange?(listener: () => void): () => void;
  /**
   * Name of the storage that contains the disks, if other hosts can also access it. Moves between hosts with the same
   * storage name do not copy disks. Default: disks are local to this computer.
   */
  readonly storage?: string;
  /**
   * Storage for the volume content of the embedded volume service. Default: none; volumes are then records without
   * content.
   */
  readonly volumes?: VolumeStorage;
  /**
   * The UDP port for tunnels to other hosts' networks. Default: this computer's networks are not connected to other
   * hosts.
   */
  readonly tunnelPort?: number;
  /**
   * The WireGuard endpoint of encrypted tunnels: a public key in base64, and a UDP port. Default: tunnels are not
   * encrypted.
   */
  readonly wireguard?: { readonly publicKey: string; readonly port: number };
  /** Returns the complete console output of a server. */
  consoleOutput(server: Server): Promise<string>;
  /** Returns the diagnostics of a running server, or null if the driver has none. */
  diagnostics(server: Server): Promise<Diagnostics | null>;
  /** Returns the progress of a server's live migration, or null if unknown. Polled on its source host. */
  moveProgress?(server: Server): Promise<MoveProgress | null>;
  /**
   * Handles a request that another host's driver sent with `services.hosts`. The signal is aborted when that host
   * disconnects. `from` is the sender; the driver must reject requests about servers for which `from.concerns()`
   * returns false. If omitted, all requests from other drivers are rejected.
   */
  handleHostRequest?(request: unknown, signal: AbortSignal, from: HostRequester): Promise<LinkResponse>;
  /**
   * Returns the endpoint of a console, or null if the driver does not support the type. Types: novnc, xvpvnc,
   * spice-html5, spice-direct, serial, webmks.
   */
  console(server: Server, type: string): Promise<ConsoleEndpoint | null>;
  /**
   * Connects a proxy to a console whose endpoint `console` returned. Resolves to a byte stream in both directions. If
   * omitted, the engine cannot connect to consoles.
   */
  openConsole?(server: Server, type: string): Promise<Duplex>;
  /**
   * Releases all resources that keep this process alive; called when the engine closes. Machines that can outlive the
   * process continue to run.
   */
  close?(): Promise<void>;
}
