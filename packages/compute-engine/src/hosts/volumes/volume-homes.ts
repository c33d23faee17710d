import type { StoragePool, VolumePlacement, VolumePlacementRequest } from '@apistrata/catalogs';
import { lockName, type Store, type Tx } from '@apistrata/record-store';
import type { Clock } from '../../clock/clock.js';
import type { Infrastructure } from '../../scheduler/infrastructure.js';
import { fulfillsSpecs, poolCapabilities } from '../../scheduler/pool-capabilities.js';
import { findVolumeHosts, NO_HOST } from './volume-hosts.js';

/** How long space stays reserved, and hosts stay recorded, after a crash during the creation of a volume. */
const UNFINISHED_MS = 86_400_000;

type HostPool = StoragePool & { readonly host: string };

/** Records which host stores each volume and snapshot, and selects hosts for new volumes. */
export class VolumeHomes implements VolumePlacement {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #infrastructure: Infrastructure;

  constructor(parts: { readonly store: Store; readonly clock: Clock; readonly infrastructure: Infrastructure }) {
    this.#store = parts.store;
    this.#clock = parts.clock;
    this.#infrastructure = parts.infrastructure;
  }

  hostsOf(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return findVolumeHosts(this.#store, ids);
  }

  async find(id: string): Promise<string | undefined> {
    return (await this.hostsOf([id])).get(id);
  }

  async pools(): Promise<readonly HostPool[]> {
    const { hosts } = await this.#infrastructure.current();
    return [...hosts.values()].flatMap(({ name: host, zone, node: { process, volumes }, service }) =>
      process?.keepsVolumes && volumes ? [{ host, zone, up: this.#infrastructure.isUp(service), ...volumes }] : [],
    );
  }

  async place(request: VolumePlacementRequest): Promise<StoragePool | null | undefined> {
    const { id, sizeGb, origin, zone, extraSpecs, excludedHosts } = request;
    const pools = await this.pools();
    if (pools.length === 0) return undefined;
    const source = origin.kind === 'copy' ? await this.find(origin.id) : undefined;
    return this.#store.transaction(async (tx) => {
      await lockName(tx, 'volume_homes');
      const existingHost = (await this.#rows(tx).where('volume_id', '=', id).executeTakeFirst())?.host;
      if (existingHost === NO_HOST) return null;
      if (existingHost !== undefined) return pools.find(({ host }) => host === existingHost);
      const pendingGb = await this.#readPendingGb(tx);
      const [pool] = pools
        .map((each) => ({ ...each, freeGb: each.freeGb - (pendingGb.get(each.host) ?? 0) }))
        .filter(
          (each) =>
            each.up &&
            !excludedHosts.includes(each.host) &&
            (zone ?? each.zone) === each.zone &&
            (source ?? each.host) === each.host &&
            each.freeGb >= sizeGb &&
            fulfillsSpecs(poolCapabilities(each), extraSpecs),
        )
        .sort((one, other) => other.freeGb - one.freeGb);
      await this.#insert(tx, id, pool?.host ?? NO_HOST, sizeGb);
      return pool ?? null;
    });
  }

  #rows(tx: Tx) {
    return tx.db.selectFrom('volume_homes').select(['volume_id', 'host', 'pending_gb']);
  }

  /** Returns the space in GiB that is reserved on each host for data that is not stored yet. */
  async #readPendingGb(tx: Tx): Promise<ReadonlyMap<string, number>> {
    const pendingGb = new Map<string, number>();
    const rows = await this.#rows(tx)
      .where('pending_gb', '>', 0)
      .where('created_at', '>', this.#clock.now() - UNFINISHED_MS)
      .execute();
    for (const { host, pending_gb } of rows) pendingGb.set(host, (pendingGb.get(host) ?? 0) + pending_gb);
    return pendingGb;
  }

  async #insert(tx: Tx, id: string, host: string, pendingGb: number | null): Promise<void> {
    await tx.db
      .insertInto('volume_homes')
      .values({ volume_id: id, host, pending_gb: pendingGb, created_at: this.#clock.now() })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }

  async keepTogether(id: string, sourceId: string): Promise<void> {
    const host = await this.find(sourceId);
    if (host !== undefined) await this.#store.transaction((tx) => this.#insert(tx, id, host, null));
  }

  /** Releases the reservation of a volume, whose data is now stored. */
  async settle(id: string): Promise<void> {
    await this.#store.transaction(async (tx) => {
      await tx.db.updateTable('volume_homes').set({ pending_gb: null }).where('volume_id', '=', id).execute();
    });
  }

  /** Records the host that stores a volume's data. */
  async record(id: string, host: string): Promise<void> {
    await this.#store.transaction(async (tx) => {
      await this.#forget(tx, id);
      await this.#insert(tx, id, host, null);
    });
  }

  forget(id: string): Promise<void> {
    return this.#store.transaction((tx) => this.#forget(tx, id));
  }

  async #forget(tx: Tx, id: string): Promise<void> {
    await tx.db.deleteFrom('volume_homes').where('volume_id', '=', id).execute();
  }

  async cleanUp(): Promise<void> {
    await this.#store.transaction(async (tx) => {
      await tx.db
        .deleteFrom('volume_homes')
        .where('created_at', '<', this.#clock.now() - UNFINISHED_MS)
        .where('volume_id', 'not in', tx.db.selectFrom('volumes').select('id'))
        .where('volume_id', 'not in', tx.db.selectFrom('snapshots').select('id'))
        .execute();
    });
  }
}
