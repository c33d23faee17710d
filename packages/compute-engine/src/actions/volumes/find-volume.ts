import { CatalogError, type Volume } from '@apistrata/catalogs';
import type { ServerScope } from '../../core/core.js';
import { notFound } from '../../errors/refusal.js';
import type { BlockDevice, Server } from '../../model/index.js';

/** A volume that the caller may see. @param refusal what a volume that is not there is told with; default 404 */
export async function findVolume(
  { core, context }: ServerScope,
  id: string,
  refusal: (message: string) => Error = notFound,
): Promise<Volume> {
  try {
    return await core.catalogs.volumes.getVolume(context.caller, id);
  } catch (error) {
    if (error instanceof CatalogError && error.kind === 'not-found') throw refusal(`Volume ${id} could not be found.`);
    throw error;
  }
}

/** The server's disk that is this volume; 404 when there is none. */
export function attachedDevice(server: Server, volumeId: string): BlockDevice {
  const device = server.blockDevices.find((d) => d.volumeId === volumeId && d.destination === 'volume');
  if (!device) throw notFound(`Instance ${server.id} is not attached to volume ${volumeId}`);
  return device;
}
