import { join } from 'node:path';
import type { HostReport } from '@apistrata/compute-engine/drivers';
import type { Host } from './host.js';
import { readDiskSpace } from './machine/disk-space.js';

/** Returns what this host reports: its network problem, if any, its disk space, and the space of volumes. */
export async function createHostReport({ networks, parts }: Host): Promise<HostReport> {
  const { directory, sharedDirectory = directory } = parts;
  const folders = [join(sharedDirectory, 'machines'), join(directory, 'contents')];
  // If the storage of volumes fails, servers without volumes can still start.
  const volumes = await parts.volumeBackend?.usage().catch(() => undefined);
  return {
    problem: await networks.problem(),
    disk: await readDiskSpace(sharedDirectory, folders),
    ...(volumes && { volumes }),
  };
}
