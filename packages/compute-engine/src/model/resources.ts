import type { Stored } from '@apistrata/record-store';

/** A flavor. Memory and swap in MiB, disks in GiB. */
export interface Flavor extends Stored {
  /** The public id (`flavorid`). */
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly vcpus: number;
  readonly memoryMb: number;
  readonly diskGb: number;
  readonly ephemeralGb: number;
  readonly swapMb: number;
  readonly rxtxFactor: number;
  readonly isPublic: boolean;
  readonly disabled: boolean;
  readonly extraSpecs: Readonly<Record<string, string>>;
  /** Projects that may use it when it is not public. */
  readonly projects: readonly string[];
  readonly createdAt: number;
  readonly updatedAt: number | null;
}

/** A key pair of a user. Its private half is never stored. */
export interface Keypair extends Stored {
  readonly userId: string;
  readonly name: string;
  readonly type: 'ssh' | 'x509';
  readonly publicKey: string;
  readonly fingerprint: string;
  readonly createdAt: number;
}

/** Where the members of a group are put: on one host or on different ones, by all means or where possible. */
export type GroupPolicy = 'affinity' | 'anti-affinity' | 'soft-affinity' | 'soft-anti-affinity';

/** A server group. Its members are the servers that name it. */
export interface ServerGroup extends Stored {
  readonly id: string;
  readonly projectId: string;
  readonly userId: string;
  readonly name: string;
  readonly policy: GroupPolicy;
  readonly maxServerPerHost: number | null;
  readonly createdAt: number;
}

/** Limits set for a project, or for one user in it (`userId`, else ''). */
export interface QuotaSet extends Stored {
  readonly projectId: string;
  readonly userId: string;
  readonly limits: Readonly<Record<string, number>>;
}

/** Limits of a quota class; only `default` has an effect. */
export interface QuotaClass extends Stored {
  readonly name: string;
  readonly limits: Readonly<Record<string, number>>;
}

/** A one-time token that leads to a console. */
export interface ConsoleToken extends Stored {
  readonly token: string;
  readonly serverId: string;
  readonly host: string;
  readonly port: number;
  readonly tlsPort: number | null;
  readonly internalAccessPath: string | null;
  readonly type: string;
  readonly expiresAt: number;
}
