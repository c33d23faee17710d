import type { Core } from '../core/core.js';
import type { Diagnostics } from '../drivers/driver.js';
import { conflict, notSupported } from '../errors/rejection.js';
import type { PowerState, Server } from '../model/index.js';

const RUNNING = 1;
const PAUSED = 3;

/** Power states in messages. */
const NAMES: Readonly<Record<PowerState, string>> = {
  0: 'pending',
  1: 'running',
  3: 'paused',
  4: 'shutdown',
  6: 'crashed',
  7: 'suspended',
};

export async function serverDiagnostics({ machines }: Core, server: Server): Promise<Diagnostics> {
  const { id, host, powerState } = server;
  if (!host) throw conflict(`Instance ${id} is not ready`);
  if (powerState !== RUNNING && powerState !== PAUSED)
    throw conflict(`Cannot 'get_diagnostics' instance ${id} while it is in power state ${NAMES[powerState]}`);
  const notified = await machines.diagnostics(server);
  if (!notified) throw notSupported('The hypervisor does not support diagnostics.');
  return notified;
}
