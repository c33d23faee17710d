import type { Caller } from '../caller/caller.js';

/** A shared file system. The size is in GiB. */
export interface Share {
  /** The share's UUID. */
  readonly id: string;
  readonly projectId: string;
  readonly name: string | null;
  /** The share's status: `available`, `creating`, `error`, ... */
  readonly status: string;
  /** The file system protocol. Servers can attach `NFS` and `CEPHFS` shares. */
  readonly protocol: string;
  readonly sizeGb: number;
  /** The locations from which hosts can mount the share. The preferred location is first. */
  readonly exportLocations: readonly string[];
}

/** How an access rule identifies a share's client: by IP address or by cephx user name. */
export type ShareAccessType = 'ip' | 'cephx';

/** An access rule, which grants one client access to a share. */
export interface ShareAccess {
  /** The access rule's UUID. */
  readonly id: string;
  readonly shareId: string;
  readonly type: ShareAccessType;
  /** The host's IP address, or the cephx user name. */
  readonly to: string;
  readonly level: 'rw' | 'ro';
  /** The rule's state: `queued_to_apply` or `applying`, then `active`, or `error` if the rule could not be applied. */
  readonly state: string;
  /** The secret key of a cephx user; null for other clients. */
  readonly accessKey: string | null;
}

/**
 * The catalog of shares that servers mount. Every method throws {@link CatalogError}. For shares that the caller may
 * not see, the code is `SHARE_NOT_FOUND`.
 */
export interface ShareCatalog {
  get(caller: Caller, id: string): Promise<Share>;
  /** Grants a client access to a share. Idempotent: if the client has access already, returns the existing rule. */
  allowAccess(
    caller: Caller,
    shareId: string,
    access: { readonly type: ShareAccessType; readonly to: string; readonly level?: 'rw' | 'ro' },
  ): Promise<ShareAccess>;
  getAccess(caller: Caller, shareId: string, type: ShareAccessType, to: string): Promise<ShareAccess | null>;
  /** Revokes a client's access to a share. Idempotent. */
  denyAccess(caller: Caller, shareId: string, type: ShareAccessType, to: string): Promise<void>;
  /** Locks the share so that it cannot be deleted while a server uses it. `holder` is the server's id. Idempotent. */
  lock(caller: Caller, shareId: string, holder: string): Promise<void>;
  /** Removes the lock that `lock()` added for `holder`. Idempotent. */
  unlock(caller: Caller, shareId: string, holder: string): Promise<void>;
}
