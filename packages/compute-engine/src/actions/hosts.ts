import type { Core } from '../core/core.js';
import { conflict } from '../errors/refusal.js';
import type { Server } from '../model/index.js';
import type { Host } from '../scheduler/infrastructure.js';
import { hostNamed } from '../server-migrations/destination.js';

/** A compute host by its name or its hypervisor's; undefined when there is none. */
export async function findHost({ infrastructure }: Core, name: string): Promise<Host | undefined> {
  return hostNamed(await infrastructure.hosts(), name);
}

/** The same for a host that may not have been named; the refusal when there is none of that name. */
export async function requestedHost(
  core: Core,
  name: string | undefined,
  refusal: (name: string) => Error,
): Promise<Host | undefined> {
  if (name === undefined) return undefined;
  const host = await findHost(core, name);
  if (!host) throw refusal(name);
  return host;
}

async function hostOf({ infrastructure }: Core, { host }: Pick<Server, 'host'>): Promise<Host | undefined> {
  return host === null ? undefined : (await infrastructure.hosts()).hosts.get(host);
}

/** Whether the host that a server is on shows signs of life; false for servers without one. */
export async function isHostUp(core: Core, server: Pick<Server, 'host'>): Promise<boolean> {
  const host = await hostOf(core, server);
  return host !== undefined && core.infrastructure.isUp(host.service);
}

/** Whether the host that a server is on shows no sign of life; false for servers without one. */
export async function isHostDown(core: Core, server: Pick<Server, 'host'>): Promise<boolean> {
  const host = await hostOf(core, server);
  return host !== undefined && !core.infrastructure.isUp(host.service);
}

/** Throws the 409 of actions that the host itself has to do. */
export async function checkHostUp(core: Core, server: Server): Promise<void> {
  if (await isHostUp(core, server)) return;
  throw conflict(`Instance ${server.id} cannot be changed: its host is unavailable at this time.`);
}
