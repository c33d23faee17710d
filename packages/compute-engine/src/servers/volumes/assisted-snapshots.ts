import { CatalogError, type Volume } from '@apistrata/catalogs';
import { type Context, elevated } from '../../core/context.js';
import type { Core } from '../../core/core.js';
import { badRequest, notFound } from '../../errors/refusal.js';

/** Snapshots of volumes that the volume service has made by the host which uses the volume. */
export class AssistedSnapshots {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /** The host has written the snapshot: the volume service finishes it. */
  async create(context: Context, volumeId: string, snapshotId: string): Promise<void> {
    const { caller } = elevated(context);
    await this.#attached(caller, volumeId, badRequest);
    await this.#report(this.#core.catalogs.volumes.updateSnapshotStatus(caller, snapshotId, 'creating', '90%'));
  }

  async delete(context: Context, volumeId: string, snapshotId: string): Promise<void> {
    const { caller } = elevated(context);
    await this.#attached(caller, volumeId, notFound);
    await this.#report(this.#core.catalogs.volumes.updateSnapshotStatus(caller, snapshotId, 'deleting', '90%'));
  }

  /** A volume that exactly one server uses. */
  async #attached(caller: Context['caller'], volumeId: string, refusal: typeof notFound): Promise<Volume> {
    const volume = await this.#core.catalogs.volumes.getVolume(caller, volumeId).catch((error) => {
      throw error instanceof CatalogError && error.kind === 'not-found'
        ? refusal(`Volume ${volumeId} could not be found.`)
        : error;
    });
    const servers = new Set(volume.attachments.map(({ serverId }) => serverId));
    if (servers.size === 0) throw refusal(`No server uses volume ${volumeId}.`);
    if (servers.size > 1 || volume.multiattach)
      throw badRequest('Snapshots by the host are not supported for multiattach volumes.');
    return volume;
  }

  /** The volume service waits for this; that it knows the snapshot no more is its own affair. */
  async #report(update: Promise<void>): Promise<void> {
    await update.catch((error) => {
      if (!(error instanceof CatalogError) || error.kind === 'unavailable') throw error;
    });
  }
}
