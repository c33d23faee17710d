import { randomUUID } from 'node:crypto';
import { DocumentTable, type New, retryOnUniqueViolation, type Stored } from '@apistrata/record-store';
import { type EmbeddedOptions, embeddedContext } from '../../builtin/embedded-options.js';
import { rejectNul } from '../../builtin/json-conditions.js';
import { listPage, type Page } from '../../builtin/list-page.js';
import type { Caller } from '../../caller/caller.js';
import { canAccessProject, isAdmin } from '../../caller/caller-scope.js';
import { CatalogError } from '../../errors/catalog-error.js';
import type { Share, ShareAccess, ShareAccessType, ShareCatalog } from '../share-catalog.js';

/** A share record in the embedded catalog, with the share's access rules and locks. */
export interface ShareRecord extends Share, Stored {
  readonly accesses: readonly ShareAccess[];
  readonly locks: readonly string[];
  readonly createdAt: number;
}

const shares = new DocumentTable<ShareRecord>({
  name: 'shares',
  key: (s) => s.id,
  columns: { project_id: (s) => s.projectId, name: (s) => s.name },
});

/** A preset share. Omitted fields have defaults. The size is in GiB. */
export type ShareSeed = Pick<Share, 'id' | 'projectId'> & Partial<Share>;

function newShare(share: ShareSeed, now: number): New<ShareRecord> {
  return {
    name: null,
    status: 'available',
    protocol: 'NFS',
    sizeGb: 1,
    exportLocations: [`192.0.2.1:/shares/${share.id}`],
    ...share,
    accesses: [],
    locks: [],
    createdAt: now,
  };
}

function shareNotFound(id: string): CatalogError {
  return new CatalogError('SHARE_NOT_FOUND', `Share ${id} could not be found.`);
}

/** Creates a share catalog in the engine's own database. */
export function embeddedShares(options: EmbeddedOptions) {
  const { store, clock, acceptsUnknownIds } = embeddedContext('embeddedShares', options);

  async function getVisible(caller: Caller, id: string): Promise<ShareRecord> {
    const share = await shares.get(store, id);
    if (share && canAccessProject(caller, share.projectId)) return share;
    if (share || !acceptsUnknownIds) throw shareNotFound(id);
    rejectNul(id);
    const record = newShare({ id, projectId: caller.projectId, name: id }, clock.now());
    return retryOnUniqueViolation(store, async (tx) => (await shares.get(tx, id)) ?? shares.insert(tx, record));
  }

  async function changeShare(
    caller: Caller,
    id: string,
    getChanges: (share: ShareRecord) => Partial<ShareRecord>,
  ): Promise<ShareRecord> {
    await getVisible(caller, id);
    return store.transaction(async (tx) => {
      const share = await shares.lock(tx, id);
      if (!share) throw shareNotFound(id);
      return shares.update(tx, { ...share, ...getChanges(share) });
    });
  }

  function findAccess(share: ShareRecord, type: ShareAccessType, to: string): ShareAccess | undefined {
    return share.accesses.find((access) => access.type === type && access.to === to);
  }

  const catalog = {
    get: getVisible,

    list: (caller: Caller, page: Page = {}): Promise<readonly ShareRecord[]> =>
      listPage(store, shares, 'newest first', page, (rows) =>
        isAdmin(caller) ? rows : rows.where('project_id', '=', caller.projectId),
      ),

    async create(caller: Caller, share: Partial<Omit<Share, 'projectId'>>): Promise<ShareRecord> {
      rejectNul(share);
      const record = newShare({ id: randomUUID(), ...share, projectId: caller.projectId }, clock.now());
      return retryOnUniqueViolation(
        store,
        async (tx) => (await shares.get(tx, record.id)) ?? shares.insert(tx, record),
      );
    },

    update: (caller: Caller, id: string, fields: Partial<Omit<Share, 'id' | 'projectId'>>): Promise<ShareRecord> => {
      rejectNul(fields);
      return changeShare(caller, id, () => fields);
    },

    /**
     * Deletes a share.
     *
     * @throws `SHARE_LOCKED` if a server uses the share
     */
    async delete(caller: Caller, id: string): Promise<void> {
      await getVisible(caller, id);
      await store.transaction(async (tx) => {
        const share = await shares.lock(tx, id);
        if (share && share.locks.length > 0)
          throw new CatalogError('SHARE_LOCKED', `Share ${id} is locked by ${share.locks.join(', ')}.`);
        await shares.delete(tx, id);
      });
    },

    async allowAccess(
      caller: Caller,
      shareId: string,
      { type, to, level = 'rw' }: { readonly type: ShareAccessType; readonly to: string; readonly level?: 'rw' | 'ro' },
    ): Promise<ShareAccess> {
      rejectNul(to);
      const accessKey = type === 'cephx' ? randomUUID() : null;
      const access = { id: randomUUID(), shareId, type, to, level, state: 'active', accessKey };
      let grantedAccess: ShareAccess = access;
      await changeShare(caller, shareId, (share) => {
        if (share.status !== 'available')
          throw new CatalogError('SHARE_WRONG_STATUS', `Share ${shareId} is ${share.status}, not available.`);
        const existingAccess = findAccess(share, type, to);
        grantedAccess = existingAccess ?? access;
        return existingAccess ? {} : { accesses: [...share.accesses, access] };
      });
      return grantedAccess;
    },

    getAccess: async (
      caller: Caller,
      shareId: string,
      type: ShareAccessType,
      to: string,
    ): Promise<ShareAccess | null> => findAccess(await getVisible(caller, shareId), type, to) ?? null,

    async denyAccess(caller: Caller, shareId: string, type: ShareAccessType, to: string): Promise<void> {
      await changeShare(caller, shareId, (share) => ({
        accesses: share.accesses.filter((access) => access.type !== type || access.to !== to),
      }));
    },

    async lock(caller: Caller, shareId: string, holder: string): Promise<void> {
      rejectNul(holder);
      await changeShare(caller, shareId, (share) => ({ locks: [...new Set([...share.locks, holder])] }));
    },

    async unlock(caller: Caller, shareId: string, holder: string): Promise<void> {
      await changeShare(caller, shareId, (share) => ({ locks: share.locks.filter((other) => other !== holder) }));
    },

    /** Creates the preset shares that do not exist yet. Existing shares are not changed. */
    async seed(preset: readonly ShareSeed[]): Promise<void> {
      for (const share of preset)
        await retryOnUniqueViolation(store, async (tx) => {
          if (!(await shares.get(tx, share.id))) await shares.insert(tx, newShare(share, clock.now()));
        });
    },
  };
  return catalog satisfies ShareCatalog;
}

/** A share catalog in the engine's database. */
export type EmbeddedShareCatalog = ReturnType<typeof embeddedShares>;
