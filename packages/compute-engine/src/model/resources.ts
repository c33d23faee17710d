import type { Stored } from '@apistrata/record-store';

/** A flavor. Memory and swap are in MiB, disks in GiB. */
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
  /** Projects that may use the flavor if it is not public. */
  readonly projects: readonly string[];
  readonly createdAt: number;
  readonly updatedAt: number | null;
}

/** A key pair of a user. The private key is never stored. */
export interface Keypair extends Stored {
  readonly userId: string;
  readonly name: string;
  readonly type: 'ssh' | 'x509';
  readonly publicKey: string;
  readonly fingerprint: string;
  readonly createdAt: number;
}

/** How a server group is placed: on one host or on different hosts, strictly or only if possible (`soft-`). */
export type GroupPolicy = 'affinity' | 'anti-affinity' | 'soft-affinity' | 'soft-anti-affinity';

/** A server group. Its members are the servers that refer to it. */
export interface ServerGroup extends Stored {
  readonly id: string;
  readonly projectId: string;
  readonly userId: string;
  readonly name: string;
  readonly policy: GroupPolicy;
  readonly maxServerPerHost: number | null;
  readonly createdAt: number;
}

/** Quotas of a project, or of one user in it. `userId` is empty for a project. */
export interface QuotaSet extends Stored {
  readonly projectId: string;
  readonly userId: string;
  readonly limits: Readonly<Record<string, number>>;
}

/** Quotas of a quota class; only the class `default` has an effect. */
export interface QuotaClass extends Stored {
  readonly name: string;
  readonly limits: Readonly<Record<string, number>>;
}

/** A one-time token that opens a console. */
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
