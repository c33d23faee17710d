import { CatalogError, type Volume } from '@apistrata/catalogs';
import { type Context, elevatedContext } from '../../core/context.js';
import type { Core } from '../../core/core.js';
import { badRequest, notFound } from '../../errors/rejection.js';

/** Handles requests of the volume service for snapshots that the host of an attached volume creates or deletes. */
export class AssistedSnapshots {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /** Reports to the volume service that the host has written the snapshot. */
  async create(context: Context, volumeId: string, snapshotId: string): Promise<void> {
    const { caller } = elevatedContext(context);
    await this.#attached(caller, volumeId, badRequest);
    await this.#report(this.#core.catalogs.volumes.updateSnapshotStatus(caller, snapshotId, 'creating', '90%'));
  }

  async delete(context: Context, volumeId: string, snapshotId: string): Promise<void> {
    const { caller } = elevatedContext(context);
    await this.#attached(caller, volumeId, notFound);
    await this.#report(this.#core.catalogs.volumes.updateSnapshotStatus(caller, snapshotId, 'deleting', '90%'));
  }

  /** Returns a volume. Throws an error unless exactly one server uses the volume. */
  async #attached(caller: Context['caller'], volumeId: string, rejection: typeof notFound): Promise<Volume> {
    const volume = await this.#core.catalogs.volumes.getVolume(caller, volumeId).catch((error) => {
      throw error instanceof CatalogError && error.kind === 'not-found'
        ? rejection(`Volume ${volumeId} could not be found.`)
        : error;
    });
    const servers = new Set(volume.attachments.map(({ serverId }) => serverId));
    if (servers.size === 0) throw rejection(`No server uses volume ${volumeId}.`);
    if (servers.size > 1 || volume.multiattach)
      throw badRequest('Snapshots that a host creates are not supported for multiattach volumes.');
    return volume;
  }

  /**
   * Waits until the status update of a snapshot is complete. Ignores errors other than outages, because the volume
   * service, which is the caller, may no longer have the snapshot.
   */
  async #report(update: Promise<void>): Promise<void> {
    await update.catch((error) => {
      if (!(error instanceof CatalogError) || error.kind === 'unavailable') throw error;
    });
  }
}
