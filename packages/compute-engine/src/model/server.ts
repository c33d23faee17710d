import type { FixedIp } from '@apistrata/catalogs';
import type { Stored } from '@apistrata/record-store';
import type { ServerSettings } from './server-settings.js';

/** The state of a server; spelled as in the API. */
export type VmState =
  | 'active'
  | 'building'
  | 'paused'
  | 'suspended'
  | 'stopped'
  | 'rescued'
  | 'resized'
  | 'soft-delete'
  | 'deleted'
  | 'error'
  | 'shelved'
  | 'shelved_offloaded';

/** The task in progress on a server; null if there is none. */
export type TaskState =
  | 'scheduling'
  | 'block_device_mapping'
  | 'networking'
  | 'spawning'
  | 'image_snapshot'
  | 'image_snapshot_pending'
  | 'image_pending_upload'
  | 'image_uploading'
  | 'image_backup'
  | 'updating_password'
  | 'resize_prep'
  | 'resize_migrating'
  | 'resize_migrated'
  | 'resize_finish'
  | 'resize_reverting'
  | 'resize_confirming'
  | 'rebooting'
  | 'reboot_pending'
  | 'reboot_started'
  | 'rebooting_hard'
  | 'reboot_pending_hard'
  | 'reboot_started_hard'
  | 'pausing'
  | 'unpausing'
  | 'suspending'
  | 'resuming'
  | 'powering-off'
  | 'powering-on'
  | 'rescuing'
  | 'unrescuing'
  | 'rebuilding'
  | 'rebuild_block_device_mapping'
  | 'rebuild_spawning'
  | 'migrating'
  | 'deleting'
  | 'soft-deleting'
  | 'restoring'
  | 'shelving'
  | 'shelving_image_pending_upload'
  | 'shelving_image_uploading'
  | 'shelving_offloading'
  | 'unshelving';

/** The power state: 0 no state, 1 running, 3 paused, 4 shut down, 6 crashed, 7 suspended. */
export type PowerState = 0 | 1 | 3 | 4 | 6 | 7;

/** The flavor at the time when the server was created or resized. Memory and swap are in MiB, disks in GiB. */
export interface FlavorCopy {
  readonly id: string;
  readonly name: string;
  readonly vcpus: number;
  readonly memoryMb: number;
  readonly diskGb: number;
  readonly ephemeralGb: number;
  readonly swapMb: number;
  readonly extraSpecs: Readonly<Record<string, string>>;
}

/** A network interface of a server, as last read from the network catalog. */
export interface ServerInterface {
  readonly portId: string;
  readonly networkId: string;
  /** Name of the network: the label in `addresses`. */
  readonly label: string;
  readonly mac: string;
  readonly fixedIps: readonly FixedIp[];
  readonly securityGroups: readonly string[];
  readonly tag: string | null;
  /** Whether the port was created for this server and is deleted with it. */
  readonly owned: boolean;
}

/** A disk of a server: a local disk or a volume. Sizes are in GiB. */
export interface BlockDevice {
  readonly id: string;
  readonly device: string;
  readonly source: 'image' | 'volume' | 'snapshot' | 'blank';
  readonly destination: 'local' | 'volume';
  readonly bootIndex: number | null;
  readonly volumeId: string | null;
  /** Id of the image or snapshot from which the disk is created. */
  readonly sourceId: string | null;
  readonly sizeGb: number | null;
  readonly volumeType: string | null;
  readonly deleteOnTermination: boolean;
  readonly tag: string | null;
  readonly diskBus: string | null;
  readonly deviceType: string | null;
  readonly guestFormat: string | null;
  /** Id of the attachment in the volume catalog. */
  readonly attachmentId: string | null;
  readonly attachedAt: number | null;
}

/** Why a server has the status ERROR. `code` is an HTTP status; the time is in milliseconds since the epoch. */
export interface Fault {
  readonly code: number;
  readonly message: string;
  readonly details: string;
  readonly createdAt: number;
}

/** Capacity of a host that is reserved for a server. A server has two claims while it is being moved or resized. */
export interface Claim {
  readonly host: string;
  readonly vcpus: number;
  readonly memoryMb: number;
  readonly diskGb: number;
  /** Amounts of resource classes other than processors, memory and disk, if the server has any. */
  readonly resources?: Readonly<Record<string, number>>;
}

/** The role that locked a server, and the reason. */
export interface Lock {
  readonly by: 'owner' | 'admin';
  readonly reason: string | null;
}

/** A server. Times are in milliseconds since the epoch. */
export interface Server extends Stored, ServerSettings {
  readonly id: string;
  readonly projectId: string;
  readonly userId: string;
  readonly name: string;
  readonly hostname: string;
  readonly vmState: VmState;
  readonly taskState: TaskState | null;
  readonly powerState: PowerState;
  readonly progress: number;
  readonly deleted: boolean;
  readonly fault: Fault | null;
  /** The job that may change this server; writes by other jobs are rejected. */
  readonly jobId: string | null;
  /** The attempt of the job `jobId` that may write; attempts that have lost the lease may not. Default: the first. */
  readonly jobAttempt?: number | undefined;

  readonly flavor: FlavorCopy;
  /** The previous flavor; set between a resize or migration and its confirmation. */
  readonly oldFlavor: FlavorCopy | null;
  /** The requested flavor during a resize; already counted against quotas. */
  readonly newFlavor: FlavorCopy | null;
  /** Id of the image; empty for servers that boot from a volume. */
  readonly imageId: string;
  readonly imageProperties: Readonly<Record<string, string>>;
  readonly kernelId: string | null;
  readonly ramdiskId: string | null;
  readonly rootDeviceName: string | null;
  readonly keyName: string | null;
  readonly keyData: string | null;
  readonly configDrive: boolean;
  readonly diskConfig: 'AUTO' | 'MANUAL';
  readonly securityGroups: readonly string[];

  readonly interfaces: readonly ServerInterface[];
  readonly blockDevices: readonly BlockDevice[];
  readonly shares: readonly ServerShare[];

  readonly host: string | null;
  readonly node: string | null;
  readonly claims: readonly Claim[];
  /** The requested availability zone, in which the server remains when it moves; null if none was requested. */
  readonly pinnedZone: string | null;
  readonly schedulerHints: Readonly<Record<string, unknown>>;
  readonly groupId: string | null;
  readonly reservationId: string;
  readonly launchIndex: number;
  readonly lock: Lock | null;
  /** Encrypted administrator password that the guest posted; empty if none. */
  readonly guestPassword: string;
  /** Image from which a shelved server is started again. */
  readonly shelvedImageId: string | null;
  /** Whether the server was running before it was stopped to be resized, rebuilt or shelved. */
  readonly wasRunning: boolean;
  /** When the server was soft-deleted or shelved: the start of the period for which it is kept. */
  readonly setAsideAt: number | null;

  readonly createdAt: number;
  readonly updatedAt: number | null;
  readonly launchedAt: number | null;
  readonly terminatedAt: number | null;
}

/** A share that a server mounts, with its tag. */
export interface ServerShare {
  readonly id: string;
  readonly shareId: string;
  readonly tag: string;
  readonly status: 'attaching' | 'detaching' | 'active' | 'inactive' | 'error';
  readonly exportLocation: string | null;
}

/** Changes to a server. */
export type ServerPatch = Partial<Omit<Server, keyof Stored | 'id'>>;
