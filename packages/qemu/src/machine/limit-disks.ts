import type { QmpClient } from '../qmp/qmp-client.js';
import type { DiskLimits } from '../tuning/tuning.js';

interface BlockInfo {
  /** The device through which the guest accesses the disk; missing if there is none. */
  readonly qdev?: string;
}

/** Sets the I/O limits of all disks of a machine. */
export async function limitDisks(qmp: QmpClient, limits: DiskLimits): Promise<void> {
  for (const { qdev } of await qmp.execute<BlockInfo[]>('query-block'))
    if (qdev) await qmp.execute('block_set_io_throttle', { id: qdev, ...limits });
}
