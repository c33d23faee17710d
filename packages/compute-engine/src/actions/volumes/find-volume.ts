import { CatalogError, type Volume } from '@apistrata/catalogs';
import type { ServerScope } from '../../core/core.js';
import { notFound } from '../../errors/rejection.js';
import type { BlockDevice, Server } from '../../model/index.js';

/**
 * Returns a volume that the caller may see.
 * @param rejection creates the error for an unknown volume; default: a 404 error
 */
export async function findVolume(
  { core, context }: ServerScope,
  id: string,
  rejection: (message: string) => Error = notFound,
): Promise<Volume> {
  try {
    return await core.catalogs.volumes.getVolume(context.caller, id);
  } catch (error) {
    if (error instanceof CatalogError && error.kind === 'not-found')
      throw rejection(`Volume ${id} could not be found.`);
    throw error;
  }
}

/** Returns a server's block device for a volume. Throws a 404 error if the volume is not attached. */
export function findAttachedDevice(server: Server, volumeId: string): BlockDevice {
  const device = server.blockDevices.find(
    (candidate) => candidate.volumeId === volumeId && candidate.destination === 'volume',
  );
  if (!device) throw notFound(`Instance ${server.id} is not attached to volume ${volumeId}`);
  return device;
}
