import { CatalogError } from '@apistrata/catalogs';
import { coreOf } from '../../src/engine/engine-core.js';
import { Rejection } from '../../src/errors/rejection.js';
import type { Server } from '../../src/model/index.js';
import { defaultPreset } from '../../src/preset/preset.js';
import { tables } from '../../src/schema/tables.js';
import type { Random } from './random.js';
import type { Request } from './requests.js';

const networkId = defaultPreset.networks![0]!.id;

/** Actions that attach and detach devices, concurrently with the other actions of a server. */
export const attachmentNames = ['attachVolume', 'detachVolume', 'attachInterface', 'detachInterface'] as const;
export type AttachmentName = (typeof attachmentNames)[number];

/** Returns one of the list's items, or undefined if it is empty. */
const pickFrom = <T>(random: Random, list: readonly T[]) => (list.length > 0 ? random.pick(list) : undefined);

function argumentOf(name: AttachmentName, random: Random, server: Server, volumeIds: readonly string[]): unknown {
  const attachedIds = server.blockDevices.flatMap(({ volumeId }) => volumeId ?? []);
  const portIds = server.interfaces.map(({ portId }) => portId);
  return {
    attachVolume: { volumeId: random.pick(volumeIds), allowShelved: true, multiattach: true },
    detachVolume: { volumeId: pickFrom(random, attachedIds) ?? random.pick(volumeIds) },
    attachInterface: { networkId, toExternal: false, resourceRequests: true },
    detachInterface: { portId: pickFrom(random, portIds) ?? crypto.randomUUID() },
  }[name];
}

/** Returns whether an error is a rejection by the engine or a catalog, or a random failure of the driver. */
const isRejection = (error: unknown) =>
  error instanceof Rejection || error instanceof CatalogError || (error as Error).message.endsWith('at random');

/** Attaches or detaches a random device. Returns the name of the action if it was accepted. */
export async function changeAttachments(
  { engine, context, id, random }: Request,
  volumeIds: readonly string[],
): Promise<AttachmentName | undefined> {
  const server = await tables.servers.get(coreOf(engine).store, id);
  const name = random.pick(attachmentNames);
  try {
    await engine.servers.act(context, id, name, argumentOf(name, random, server!, volumeIds) as never);
    return name;
  } catch (error) {
    if (!isRejection(error)) throw error;
    return undefined;
  }
}
