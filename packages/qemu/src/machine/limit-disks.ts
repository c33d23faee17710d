import type { QmpClient } from '../qmp/qmp-client.js';
import type { DiskLimits } from '../tuning/tuning.js';

interface Block {
  /** The device that a guest sees; left out where there is none. */
  readonly qdev?: string;
}

/** Bounds what a guest reads and writes of each of its disks, from now on. */
export async function limitDisks(qmp: QmpClient, limits: DiskLimits): Promise<void> {
  for (const { qdev } of await qmp.execute<Block[]>('query-block'))
    if (qdev) await qmp.execute('block_set_io_throttle', { id: qdev, ...limits });
}
