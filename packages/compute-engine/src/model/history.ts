import type { Stored } from '@apistrata/record-store';

/** One step of an action. */
export interface ActionEvent {
  readonly name: string;
  readonly startTime: number;
  readonly finishTime: number | null;
  readonly result: 'Success' | 'Error' | null;
  readonly traceback: string | null;
  readonly host: string | null;
  readonly details: string | null;
}

/** What one request did to a server, with its steps. */
export interface InstanceAction extends Stored {
  readonly serverId: string;
  readonly requestId: string;
  readonly action: string;
  readonly projectId: string;
  readonly userId: string;
  readonly startTime: number;
  readonly updatedAt: number | null;
  /** `Error` once a step has failed. */
  readonly message: string | null;
  readonly events: readonly ActionEvent[];
}

/** Why a server moves. */
export type MigrationType = 'migration' | 'resize' | 'live-migration' | 'evacuation';

/** How far a move of a server is. */
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

/** How far a live migration is. Bytes; processed and remaining need not add up, for memory changes meanwhile. */
export interface MoveProgress {
  readonly memoryTotalBytes: number;
  readonly memoryProcessedBytes: number;
  readonly memoryRemainingBytes: number;
  /** Zero where disks stay where they are. */
  readonly diskTotalBytes: number;
  readonly diskProcessedBytes: number;
  readonly diskRemainingBytes: number;
}

/** A move of a server from one host to another. */
export interface MigrationRecord extends Stored, MoveProgress {
  /** UUID. The number that paths use is `seq`. */
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
  readonly createdAt: number;
  readonly updatedAt: number | null;
}
