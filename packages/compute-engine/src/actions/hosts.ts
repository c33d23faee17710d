import type { Core } from '../core/core.js';
import { conflict } from '../errors/rejection.js';
import type { Server } from '../model/index.js';
import type { Host } from '../scheduler/infrastructure.js';
import { findHostByName } from '../server-migrations/destination.js';

/** Returns the compute host with the given host name or hypervisor name, or undefined if it does not exist. */
export async function findHost({ infrastructure }: Core, name: string): Promise<Host | undefined> {
  return findHostByName(await infrastructure.hosts(), name);
}

/**
 * Returns the host that a request names, or undefined if the request names none. If the host does not exist, throws the
 * error that `createRejection` creates.
 */
export async function resolveRequestedHost(
  core: Core,
  name: string | undefined,
  createRejection: (name: string) => Error,
): Promise<Host | undefined> {
  if (name === undefined) return undefined;
  const host = await findHost(core, name);
  if (!host) throw createRejection(name);
  return host;
}

async function hostOf({ infrastructure }: Core, { host }: Pick<Server, 'host'>): Promise<Host | undefined> {
  return host === null ? undefined : (await infrastructure.hosts()).hosts.get(host);
}

/** Returns whether a server's host is up: not forced down, with a recent heartbeat. False if the server has no host. */
export async function isHostUp(core: Core, server: Pick<Server, 'host'>): Promise<boolean> {
  const host = await hostOf(core, server);
  return host !== undefined && core.infrastructure.isUp(host.service);
}

/** Returns whether a server's host is forced down or lacks a recent heartbeat. False if the server has no host. */
export async function isHostDown(core: Core, server: Pick<Server, 'host'>): Promise<boolean> {
  const host = await hostOf(core, server);
  return host !== undefined && !core.infrastructure.isUp(host.service);
}

/**
 * Returns whether a server's host is fenced: its machines cannot run, or at least cannot write to disks that another
 * host uses.
 */
export async function isFenced(core: Core, server: Pick<Server, 'host'>): Promise<boolean> {
  const host = await hostOf(core, server);
  const { fences, storage } = host?.node.process ?? {};
  return host !== undefined && (host.service.forcedDown || fences === true || storage !== undefined);
}

/** Throws a 409 error if a server's host is not up. */
export async function checkHostUp(core: Core, server: Server): Promise<void> {
  if (await isHostUp(core, server)) return;
  throw conflict(`Instance ${server.id} cannot be changed: its host is unavailable at this time.`);
}
