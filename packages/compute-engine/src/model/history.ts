import type { Stored } from '@apistrata/record-store';

/** An event of an action. */
export interface ActionEvent {
  readonly name: string;
  readonly startTime: number;
  readonly finishTime: number | null;
  readonly result: 'Success' | 'Error' | null;
  readonly traceback: string | null;
  readonly host: string | null;
  readonly details: string | null;
}

/** An action that a request started on a server, with its events. */
export interface InstanceAction extends Stored {
  readonly serverId: string;
  readonly requestId: string;
  readonly action: string;
  readonly projectId: string;
  readonly userId: string;
  readonly startTime: number;
  readonly updatedAt: number | null;
  /** The message of the action: `Error` after an event has failed. */
  readonly message: string | null;
  readonly events: readonly ActionEvent[];
}

/** The kind of a migration. */
export type MigrationType = 'migration' | 'resize' | 'live-migration' | 'evacuation';

/** The status of a migration. */
export type MigrationStatus =
  | 'accepted'
  | 'queued'
  | 'preparing'
  | 'running'
  | 'pre-migrating'
  | 'migrating'
  | 'post-migrating'
  | 'finished'
  | 'confirming'
  | 'confirmed'
  | 'reverting'
  | 'reverted'
  | 'completed'
  | 'cancelled'
  | 'done'
  | 'failed'
  | 'error';

/**
 * Progress of a live migration, in bytes. Processed and remaining bytes need not add up to the total, because the guest
 * changes its memory in the meantime.
 */
export interface MoveProgress {
  readonly memoryTotalBytes: number;
  readonly memoryProcessedBytes: number;
  readonly memoryRemainingBytes: number;
  /** The size of the disks to be moved; zero if they are not moved. */
  readonly diskTotalBytes: number;
  readonly diskProcessedBytes: number;
  readonly diskRemainingBytes: number;
}

/** A migration of a server between hosts. */
export interface MigrationRecord extends Stored, MoveProgress {
  /** UUID. API paths use the number `seq` instead. */
  readonly id: string;
  readonly serverId: string;
  readonly projectId: string;
  readonly userId: string;
  readonly type: MigrationType;
  readonly status: MigrationStatus;
  readonly sourceHost: string | null;
  readonly sourceNode: string | null;
  readonly destHost: string | null;
  readonly destNode: string | null;
  readonly oldFlavorSeq: number | null;
  readonly newFlavorSeq: number | null;
  readonly hidden: boolean;
  /** Whether a client has forced the completion of a live migration. Default: false. */
  readonly forced?: boolean;
  readonly createdAt: number;
  readonly updatedAt: number | null;
}
