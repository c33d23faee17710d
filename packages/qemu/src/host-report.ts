import type { HostReport } from '@apistrata/compute-engine/drivers';
import type { Host } from './host.js';

/** Returns the state of this computer. */
export async function hostReport(host: Host): Promise<HostReport> {
  return { problem: await host.networks.problem() };
}
