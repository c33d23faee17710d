import type { QmpClient } from '../qmp/qmp-client.js';

const INTERVAL_SECONDS = 10;

/** Makes the guest's balloon driver report memory statistics periodically. Guests without this driver report none. */
export async function enableMemoryReports(qmp: QmpClient): Promise<void> {
  const statsProperty = { path: '/machine/peripheral/balloon', property: 'guest-stats-polling-interval' };
  await qmp.execute('qom-set', { ...statsProperty, value: INTERVAL_SECONDS });
}
