import { randomUUID } from 'node:crypto';
import { CatalogError } from '@apistrata/catalogs';
import type { Tx } from '@apistrata/record-store';
import { type UnfinishedCreateArguments, unfinishedCreate } from '../../actions/create/unfinished-create.js';
import type { Context } from '../../core/context.js';
import type { Core } from '../../core/core.js';
import { badRequest, conflict } from '../../errors/rejection.js';
import type { BlockDevice } from '../../model/index.js';
import type { BootPlan } from './create-boot.js';

const isCatalogRejection = (error: unknown): error is CatalogError =>
  error instanceof CatalogError && error.kind !== 'unavailable';

/**
 * Reserves existing volumes for a server and stores the server. Throws 400 if another request has just reserved one of
 * the volumes. A guard job is stored before the first reservation, and removed by the transaction that stores the
 * server. After a crash, this job ensures that no volume stays reserved for a server that does not exist.
 */
export async function runWithReservedVolumes<T>(
  core: Core,
  context: Context,
  serverId: string,
  boot: BootPlan,
  write: (tx: Tx, boot: BootPlan) => Promise<T>,
): Promise<T> {
  // The device's id is the idempotency key of the reservation, by which the guard finds the reservation.
  const volumes = boot.devices.flatMap(({ id, volumeId }) => (volumeId === null ? [] : { key: id, volumeId }));
  if (volumes.length === 0) return core.store.together((tx) => write(tx, boot));
  const { guards, store } = core;
  const guardId = randomUUID();
  const args: UnfinishedCreateArguments = { volumes };
  const payload = { context, arguments: { ...args } };
  await store.transaction((tx) => guards.add(tx, { id: guardId, kind: unfinishedCreate.name, serverId, payload }));
  return guards.renewDuring(guardId, async () => {
    const devices = await reserveVolumes(core, context, serverId, guardId, boot);
    try {
      return await store.transaction(async (tx) => {
        if (!(await guards.release(tx, guardId)))
          throw conflict('The volume reservations have been released. Repeat the request.');
        return write(tx, { ...boot, devices });
      });
    } catch (error) {
      await releaseReservations(core, context, guardId, devices);
      throw error;
    }
  });
}

async function reserveVolumes(
  core: Core,
  context: Context,
  serverId: string,
  guardId: string,
  boot: BootPlan,
): Promise<readonly BlockDevice[]> {
  const devices: BlockDevice[] = [];
  try {
    for (const device of boot.devices) {
      const { id: key, volumeId } = device;
      if (volumeId === null) devices.push(device);
      else {
        const { id } = await core.catalogs.volumes.reserve(context.caller, { key, volumeId, serverId });
        devices.push({ ...device, attachmentId: id });
      }
    }
    return devices;
  } catch (error) {
    // If the volume service does not respond, the outcome is unknown, and the guard releases the reservation later.
    if (!isCatalogRejection(error)) throw error;
    await releaseReservations(core, context, guardId, devices);
    throw error.kind === 'over-quota' ? error : badRequest(error.message);
  }
}

/**
 * Releases volume reservations immediately instead of waiting for the guard. If an error occurs, the guard releases the
 * remaining reservations.
 */
async function releaseReservations(
  { catalogs, store, guards }: Core,
  { caller }: Context,
  guardId: string,
  devices: readonly BlockDevice[],
): Promise<void> {
  try {
    for (const { attachmentId } of devices)
      if (attachmentId) await catalogs.volumes.deleteAttachment(caller, attachmentId);
    await store.transaction((tx) => guards.release(tx, guardId));
  } catch {
    // An error of the release must not hide the error that caused the release.
  }
}
