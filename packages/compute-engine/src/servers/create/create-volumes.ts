import { randomUUID } from 'node:crypto';
import { CatalogError } from '@apistrata/catalogs';
import type { Tx } from '@apistrata/record-store';
import { type UnfinishedCreateArguments, unfinishedCreate } from '../../actions/create/unfinished-create.js';
import type { Context } from '../../core/context.js';
import type { Core } from '../../core/core.js';
import { badRequest, conflict } from '../../errors/refusal.js';
import type { BlockDevice } from '../../model/index.js';
import type { BootPlan } from './create-boot.js';

const isRefusal = (error: unknown): error is CatalogError =>
  error instanceof CatalogError && error.kind !== 'unavailable';

/**
 * Takes the volumes that exist for a server, and writes it down. One that somebody else has just taken is a 400. A guard
 * stands by from before the first reservation until the transaction that writes the server, so that a process that dies
 * in between leaves no volume reserved for a server that was never made.
 */
export async function withReservedVolumes<T>(
  core: Core,
  context: Context,
  serverId: string,
  boot: BootPlan,
  write: (tx: Tx, boot: BootPlan) => Promise<T>,
): Promise<T> {
  // The device's id is the key of its reservation: with it the guard finds what it knows nothing of.
  const volumes = boot.devices.flatMap(({ id, volumeId }) => (volumeId === null ? [] : { key: id, volumeId }));
  if (volumes.length === 0) return core.store.together((tx) => write(tx, boot));
  const { guards, store } = core;
  const guardId = randomUUID();
  const args: UnfinishedCreateArguments = { volumes };
  const payload = { context, arguments: { ...args } };
  await store.transaction((tx) => guards.add(tx, { id: guardId, kind: unfinishedCreate.name, serverId, payload }));
  return guards.hold(guardId, async () => {
    const devices = await reserve(core, context, serverId, guardId, boot);
    try {
      return await store.transaction(async (tx) => {
        if (!(await guards.release(tx, guardId))) throw conflict('The volumes were given back: ask again.');
        return write(tx, { ...boot, devices });
      });
    } catch (error) {
      await giveBack(core, context, guardId, devices);
      throw error;
    }
  });
}

async function reserve(
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
    // When the service does not answer at all nobody knows what it did, and the guard is left to find out.
    if (!isRefusal(error)) throw error;
    await giveBack(core, context, guardId, devices);
    throw error.kind === 'over-quota' ? error : badRequest(error.message);
  }
}

/** Undoes at once what the guard would undo later; what cannot be undone now is left to it. */
async function giveBack(
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
    // Whatever comes of this, the caller is to read why the server was not made.
  }
}
