import type { Core } from '../../core/core.js';
import { EngineError } from '../../errors/engine-error.js';
import type { Server } from '../../model/index.js';

/** A server cannot move to the requested host while it runs; nothing was transferred. */
export class PreCheckFailed extends EngineError<'PRE_CHECK_FAILED'> {
  constructor(reason: string) {
    super('PRE_CHECK_FAILED', `Migration pre-check error: ${reason}`);
  }
}

/**
 * Returns why a running server cannot move to a host, according to its driver; null if nothing is known to prevent it. A
 * source that cannot be reached reports nothing: the migration itself waits for it.
 */
export async function preCheck({ machines }: Core, server: Server, destHost: string): Promise<string | null> {
  const obstacle = await machines.obstacle(server, 'live_migration_prepare', destHost).catch(() => null);
  return obstacle?.message ?? null;
}
