import type { Core } from '../../core/core.js';
import { EngineError } from '../../errors/engine-error.js';
import type { Server } from '../../model/index.js';

/** The error of a live migration whose destination host cannot run the server. Nothing was transferred. */
export class PreCheckFailed extends EngineError<'PRE_CHECK_FAILED'> {
  constructor(reason: string) {
    super('PRE_CHECK_FAILED', `Migration pre-check error: ${reason}`);
  }
}

/**
 * Returns why, according to the driver, a server cannot be live-migrated to a host, or null if the driver reports no
 * reason. Also returns null if the source host cannot be reached, because the migration itself waits for the source
 * host.
 */
export async function preCheck({ machines }: Core, server: Server, destHost: string): Promise<string | null> {
  const obstacle = await machines.obstacle(server, 'live_migration_prepare', destHost).catch(() => null);
  return obstacle?.message ?? null;
}
