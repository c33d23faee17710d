import { databaseError } from '@apistrata/record-store/errors';
import type { HostReport } from '../model/index.js';

/** Health of one part of the engine or of a host. */
export interface PartHealth {
  readonly healthy: boolean;
  /** A one-line explanation without sensitive data. */
  readonly reason: string;
}

/** Returns the health of a part whose check failed. */
export function failedPartHealth(error: unknown): PartHealth {
  const { message } = databaseError(error) as Error;
  return { healthy: false, reason: message };
}

/**
 * Checks that servers can start on the driver's computer. A driver without `hostReport` counts as healthy. Never
 * rejects.
 */
export async function machinesHealth(driver: { hostReport?(): Promise<HostReport> }): Promise<PartHealth> {
  try {
    const problem = (await driver.hostReport?.())?.problem ?? null;
    return { healthy: problem === null, reason: problem ?? 'Servers can start on this host.' };
  } catch (error) {
    return failedPartHealth(error);
  }
}
