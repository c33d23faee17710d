import type { Core } from '../core/core.js';
import type { Diagnostics } from '../drivers/driver.js';
import { conflict, notSupported } from '../errors/rejection.js';
import type { PowerState, Server } from '../model/index.js';

const RUNNING_STATE = 1;
const PAUSED_STATE = 3;

/** Names of power states in error messages. */
const POWER_STATE_NAMES: Readonly<Record<PowerState, string>> = {
  0: 'pending',
  1: 'running',
  3: 'paused',
  4: 'shutdown',
  6: 'crashed',
  7: 'suspended',
};

export async function readDiagnostics({ machines }: Core, server: Server): Promise<Diagnostics> {
  const { id, host, powerState } = server;
  if (!host) throw conflict(`Instance ${id} is not ready`);
  if (powerState !== RUNNING_STATE && powerState !== PAUSED_STATE)
    throw conflict(
      `Cannot 'get_diagnostics' instance ${id} while it is in power state ${POWER_STATE_NAMES[powerState]}`,
    );
  const diagnostics = await machines.diagnostics(server);
  if (!diagnostics) throw notSupported('The hypervisor does not support diagnostics.');
  return diagnostics;
}
