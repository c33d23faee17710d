import type { Caller } from '../caller/caller.js';

/** A shared file system. The size is in GiB. */
export interface Share {
  /** UUID. */
  readonly id: string;
  readonly projectId: string;
  readonly name: string | null;
  /** `available`, `creating`, `error`, ... */
  readonly status: string;
  /** Servers can attach `NFS` and `CEPHFS`. */
  readonly protocol: string;
  readonly sizeGb: number;
  /** Where hosts mount it, the preferred location first. */
  readonly exportLocations: readonly string[];
}

/** How a client of a share is identified: by address or by name. */
export type ShareAccessType = 'ip' | 'cephx';

/** An access rule of a share. */
export interface ShareAccess {
  /** UUID. */
  readonly id: string;
  readonly shareId: string;
  readonly type: ShareAccessType;
  /** Address of the host, or name of the client. */
  readonly to: string;
  readonly level: 'rw' | 'ro';
  /** `active` when it is effective; before that, `queued_to_apply` or `applying`; `error` if it failed. */
  readonly state: string;
  /** Secret of a cephx client. */
  readonly accessKey: string | null;
}

/**
 * Shares that servers mount. Every method throws {@link CatalogError}; for shares that the caller may not see, the code
 * is `SHARE_NOT_FOUND`.
 */
export interface ShareCatalog {
  get(caller: Caller, id: string): Promise<Share>;
  /** Grants a host access. Idempotent: for the same client, returns the existing access. */
  allowAccess(
    caller: Caller,
    shareId: string,
    access: { readonly type: ShareAccessType; readonly to: string; readonly level?: 'rw' | 'ro' },
  ): Promise<ShareAccess>;
  getAccess(caller: Caller, shareId: string, type: ShareAccessType, to: string): Promise<ShareAccess | null>;
  /** Revokes access. Idempotent. */
  denyAccess(caller: Caller, shareId: string, type: ShareAccessType, to: string): Promise<void>;
  /** Prevents the deletion of the share while `holder` (a server's id) uses it. Idempotent. */
  lock(caller: Caller, shareId: string, holder: string): Promise<void>;
  /** Removes a lock that `lock` has set. Idempotent. */
  unlock(caller: Caller, shareId: string, holder: string): Promise<void>;
}
