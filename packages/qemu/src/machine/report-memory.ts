import type { QmpClient } from '../qmp/qmp-client.js';

const INTERVAL_SECONDS = 10;

/** Makes the driver of the balloon in the guest report its memory periodically. A guest without this driver does not report it. */
export async function reportMemory(qmp: QmpClient): Promise<void> {
  const property = { path: '/machine/peripheral/balloon', property: 'guest-stats-polling-interval' };
  await qmp.execute('qom-set', { ...property, value: INTERVAL_SECONDS });
}
