import type { Core } from '../core/core.js';
import type { Diagnostics } from '../drivers/driver.js';
import { conflict, notSupported } from '../errors/refusal.js';
import type { Server } from '../model/index.js';

const RUNNING = 1;
const PAUSED = 3;

export async function serverDiagnostics({ machines }: Core, server: Server): Promise<Diagnostics> {
  const { id, host, powerState } = server;
  if (!host) throw conflict(`Instance ${id} is not ready`);
  if (powerState !== RUNNING && powerState !== PAUSED)
    throw conflict(`Cannot 'get_diagnostics' instance ${id} while it is in power_state ${powerState}`);
  const told = await machines.diagnostics(server);
  if (!told) throw notSupported('The hypervisor cannot tell anything of its servers.');
  return told;
}
