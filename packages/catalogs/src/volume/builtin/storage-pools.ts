import type { StoragePool } from '../volume-storage.js';
import { runInStorage, type VolumeContext } from './volume-context.js';

const toGib = (bytes: number) => Math.floor(bytes / 2 ** 30);

/** Returns the storage of each host that stores volumes. The list is empty if volumes are only records. */
export async function listStoragePools(context: VolumeContext): Promise<readonly StoragePool[]> {
  const pools = await runInStorage(context, async (storage): Promise<readonly StoragePool[]> => {
    if (storage.placement) return storage.placement.pools();
    const usage = await storage.usage();
    if (!usage) return [];
    const { backend, totalBytes, freeBytes } = usage;
    return [{ host: null, zone: 'nova', up: true, backend, totalGb: toGib(totalBytes), freeGb: toGib(freeBytes) }];
  });
  return pools ?? [];
}
