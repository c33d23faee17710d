import type { QmpClient } from '../qmp/qmp-client.js';

const INTERVAL_SECONDS = 10;

/** Makes the balloon in the guest report its memory regularly. Guests without a driver for the balloon do not. */
export async function reportMemory(qmp: QmpClient): Promise<void> {
  const property = { path: '/machine/peripheral/balloon', property: 'guest-stats-polling-interval' };
  await qmp.execute('qom-set', { ...property, value: INTERVAL_SECONDS });
}
