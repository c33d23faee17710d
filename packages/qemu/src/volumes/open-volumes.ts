import type { Server } from '@apistrata/compute-engine';
import type { VolumeShape } from '../machine/machine-shape.js';
import type { VolumeAccess } from './volume-access.js';

/** The length to which device names are padded for sorting, which is more than any name needs. */
const MAX_DEVICE_NAME_LENGTH = 32;

/** Opens all volumes of a server, in the order of their device names. */
export async function openVolumes(
  access: VolumeAccess,
  server: Server,
): Promise<{ bootVolume: VolumeShape | null; volumes: readonly VolumeShape[] }> {
  const toSortKey = ({ device }: { device: string }) => device.padStart(MAX_DEVICE_NAME_LENGTH);
  const devices = [...server.blockDevices].sort((a, b) => (toSortKey(a) < toSortKey(b) ? -1 : 1));
  const volumes: VolumeShape[] = [];
  let bootVolume: VolumeShape | null = null;
  for (const { volumeId, destination, bootIndex } of devices) {
    if (volumeId === null || destination !== 'volume') continue;
    const volume = await access.open(server, volumeId);
    if (bootIndex === 0) bootVolume = volume;
    else volumes.push(volume);
  }
  return { bootVolume, volumes };
}
