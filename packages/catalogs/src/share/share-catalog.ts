import type { Caller } from '../caller/caller.js';

/** A shared file system. Size in GiB. */
export interface Share {
  /** UUID. */
  readonly id: string;
  readonly projectId: string;
  readonly name: string | null;
  /** `available`, `creating`, `error`, ... */
  readonly status: string;
  /** `NFS` or `CEPHFS` can be attached to a server. */
  readonly protocol: string;
  readonly sizeGb: number;
  /** Where hosts mount it, the preferred one first. */
  readonly exportLocations: readonly string[];
}

/** By what a client of a share is known: its address, or its name. */
export type ShareAccessType = 'ip' | 'cephx';

/** Who may mount a share. */
export interface ShareAccess {
  /** UUID. */
  readonly id: string;
  readonly shareId: string;
  readonly type: ShareAccessType;
  /** Address of the host, or name of the client. */
  readonly to: string;
  readonly level: 'rw' | 'ro';
  /** `active` once it works; `queued_to_apply`, `applying` before, `error` when it failed. */
  readonly state: string;
  /** Secret of a cephx client. */
  readonly accessKey: string | null;
}

/**
 * Shares that servers mount. Every method throws {@link CatalogError}; what the caller may not see is
 * `SHARE_NOT_FOUND`.
 */
export interface ShareCatalog {
  get(caller: Caller, id: string): Promise<Share>;
  /** Lets a host in. Once more for the same client: the access that is there. */
  allowAccess(
    caller: Caller,
    shareId: string,
    access: { readonly type: ShareAccessType; readonly to: string; readonly level?: 'rw' | 'ro' },
  ): Promise<ShareAccess>;
  getAccess(caller: Caller, shareId: string, type: ShareAccessType, to: string): Promise<ShareAccess | null>;
  /** Access that is gone is fine. */
  denyAccess(caller: Caller, shareId: string, type: ShareAccessType, to: string): Promise<void>;
  /** Keeps the share from being deleted while `holder` (a server's id) uses it. May be repeated. */
  lock(caller: Caller, shareId: string, holder: string): Promise<void>;
  /** Ends what `lock` began; one that is gone is fine. */
  unlock(caller: Caller, shareId: string, holder: string): Promise<void>;
}
