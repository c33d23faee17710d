import type { Duplex } from 'node:stream';
import type { ImageContent, VolumeStorage } from '@apistrata/catalogs';
import type {
  BlockDevice,
  FlavorCopy,
  MoveProgress,
  PowerState,
  Server,
  ServerInterface,
  ServerShare,
  TaskState,
} from '../model/index.js';
import type { HostControl } from './host-control.js';
import type { LinkAnswer } from './host-links.js';

export type { MoveProgress } from '../model/index.js';
export type { HostControl, HostPowerAction } from './host-control.js';
export type { HostLinks, KnownHost, LinkAnswer, OpenLink } from './host-links.js';

/** What a machine is told to do, with what it needs to know beyond the server itself. */
export type DriverWork =
  /** A step that needs nothing of the machine, but takes its time on a real one. */
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
        /** The server lives on another host: what it left on this one goes, what both hosts share stays. */
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
      /** Whether its disks are on storage that hosts share, as the request says; null: the driver finds it out. */
      readonly sharedStorage: boolean | null;
    }
  | { readonly verb: 'set_password'; readonly adminPassword: string }
  | { readonly verb: 'snapshot'; readonly imageId: string }
  /**
   * Has what the guest writes be on its disks, and lets it write nothing more until `unquiesce`: its volumes are copied
   * meanwhile. After so many seconds it goes on by itself. `again`: it has been so all the time, and is to stay so for as many
   * seconds from now on; that fails where it has gone on. `by`: who wants it so, an id of theirs. Several may at a time, and the guest
   * goes on when none of them does any more.
   */
  | { readonly verb: 'quiesce'; readonly by: string; readonly seconds: number; readonly again: boolean }
  | { readonly verb: 'unquiesce'; readonly by: string }
  | { readonly verb: 'migrate_disk'; readonly destHost: string; readonly flavor: FlavorCopy }
  | {
      readonly verb: 'finish_migration';
      readonly flavor: FlavorCopy;
      readonly powerOn: boolean;
      /** Where the disks are that the machine is to have: another host, or, after a revert, this one. */
      readonly sourceHost: string;
    }
  | { readonly verb: 'confirm_migration' | 'revert_migration'; readonly sourceHost: string }
  /**
   * A live migration step by step: it waits its turn, the destination gets ready, memory moves, the source lets go. The
   * last two end one that runs: by pausing the server until all is moved, or by giving up.
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

/** What machines can be told to do. */
export type DriverVerb = DriverWork['verb'];

/** The action that a piece of work is part of; its name is that of the action's record. */
export interface WorkOrigin {
  readonly action: string;
  readonly requestId: string;
}

/** What a host tells of a running server; null for what it does not know. Bytes, nanoseconds. */
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

/** Why a machine cannot do now what machines of its driver can, in words for whoever asked for it. */
export interface Obstacle {
  /** How the request is refused: 409 for the state that things are in, 501 where the machine does not know how. */
  readonly code: 'CONFLICT' | 'NOT_SUPPORTED';
  readonly message: string;
}

/** Where a console is reached behind the proxy. */
export interface ConsoleEndpoint {
  readonly host: string;
  readonly port: number;
  /** For spice-direct alone, where the machine speaks TLS. */
  readonly tlsPort?: number | null;
  readonly internalAccessPath: string | null;
}

/**
 * The only thing that touches machines. Work may be repeated after a crash, so each verb must do nothing when its
 * effect is there already. A rejected promise fails the action; its message is what administrators read.
 */
export interface Driver extends Partial<HostControl> {
  readonly name: string;
  /** Does the work on the server's host; `signal` ends when nobody waits for it any more. */
  perform(work: DriverWork, server: Server, signal: AbortSignal, origin: WorkOrigin): Promise<void>;
  /** True when `perform` will be done without waiting for anything, so no intermediate state is worth writing down. */
  instantly?(work: DriverWork, server: Server, origin: WorkOrigin): boolean;
  /**
   * True when there is nothing to do for this work, so that `perform` would come to its end at once and cannot fail. Where all
   * that is left of an action is of that kind, its end is written down at once, and `perform` called after that. A new server
   * is asked about before it is written down, without a host and then with one. Left out: there always is something.
   */
  nothingToDo?(work: DriverWork, server: Server, origin: WorkOrigin): boolean;
  /** False for work that no machine of this driver can do: the request is refused. Default: it can do everything. */
  supports?(verb: DriverVerb): boolean;
  /**
   * What keeps the machine of this server from doing something, found out while the request waits; null: nothing does.
   * Asked for `set_password` and `quiesce`, which need the guest. Left out: nothing ever does.
   */
  obstacle?(verb: DriverVerb, server: Server): Promise<Obstacle | null>;
  /** False: disks cannot go to another host, so a resize takes place on the server's own. Default: they can. */
  readonly canMove?: boolean;
  /** The disk format of what snapshots hold (`qcow2`, ...); default: that of the image which the server was made from. */
  readonly snapshotFormat?: string;
  /** What a snapshot holds after `snapshot` was performed; default: nothing. */
  snapshotContent?(server: Server, imageId: string): ImageContent | Promise<ImageContent>;
  /**
   * Ids of the servers that have something on this computer. Asked by hosts that are processes of their own, so that
   * nothing stays of servers that have gone while they were away; left out: evacuated servers alone are looked for.
   */
  machines?(): Promise<readonly string[]>;
  /** Returns the power state that the machine of a server has; null where that is unknown now. Left out: as the engine left it. */
  powerState?(server: Server): Promise<PowerState | null>;
  /**
   * Calls a listener with the id of each server whose machine may have changed its power state by itself: the guest switched itself
   * off, or its process was killed. The engine then reads `powerState`, so a call too many has no effect.
   *
   * @returns a function that ends the calls
   */
  onPowerChange?(listener: (serverId: string) => void): () => void;
  /**
   * Names the storage that the disks of machines are on, where other hosts reach it too: those whose drivers say the same copy no
   * disk when a machine moves between them. Left out: disks are this computer's alone.
   */
  readonly storage?: string;
  /** Where the content of embedded volumes is; default: nowhere, they are records. */
  readonly volumes?: VolumeStorage;
  /** The UDP port at which this computer's networks meet those of other hosts. Left out: they do not. */
  readonly tunnelPort?: number;
  /** Everything the console has printed. */
  consoleOutput(server: Server): Promise<string>;
  /** Null: this driver cannot tell. */
  diagnostics(server: Server): Promise<Diagnostics | null>;
  /** How far the live migration of a server is, asked on its source again and again. Left out or null: nobody can tell. */
  moveProgress?(server: Server): Promise<MoveProgress | null>;
  /**
   * Answers the driver of another host, which asks by `services.hosts`. The signal ends when that one has gone. Left out: it is
   * refused.
   */
  answer?(question: unknown, signal: AbortSignal): Promise<LinkAnswer>;
  /** Null: this driver has no such console. Types: novnc, xvpvnc, spice-html5, spice-direct, serial, webmks. */
  console(server: Server, type: string): Promise<ConsoleEndpoint | null>;
  /** Connects to a console that `console` has named: bytes both ways, for a proxy. Left out: it cannot. */
  openConsole?(server: Server, type: string): Promise<Duplex>;
  /** The engine is closed: lets go of whatever keeps this process alive. Machines go on where they can. */
  close?(): Promise<void>;
}
