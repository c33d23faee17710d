import type { Image } from '../../../catalogs/index.js';
import type { Context } from '../../../context.js';
import type { Core } from '../../../core.js';
import { badRequest, conflict } from '../../../errors.js';
import { hostNamed } from '../../../migrations/destination.js';
import type { FlavorCopy, Server } from '../../../model/index.js';
import { limitsOf, overQuota } from '../../../quotas/server-quota.js';
import type { Host } from '../../../scheduler/infrastructure.js';
import type { Servers } from '../servers.js';

/** What the actions work with. */
export interface ActionScope {
  readonly core: Core;
  readonly servers: Servers;
}

/** An active image that the caller may see and that the flavor is large enough for; 400 otherwise. */
export async function usableImage(
  { catalogs }: Core,
  { caller }: Context,
  id: string,
  flavor: FlavorCopy,
  rootGb = flavor.diskGb,
): Promise<Image> {
  const image = await catalogs.images.get(caller, id).catch(() => undefined);
  if (!image) throw badRequest(`Image ${id} could not be found.`);
  if (image.status !== 'active') throw badRequest(`Image ${id} is not active.`);
  if (flavor.memoryMb < image.minRamMb) throw badRequest("Flavor's memory is too small for requested image.");
  if (rootGb > 0 && rootGb < image.minDiskGb) {
    throw badRequest(
      `Flavor's disk is smaller than the minimum size specified in image metadata. Flavor disk is ${rootGb}, minimum size is ${image.minDiskGb}.`,
    );
  }
  return image;
}

/** Throws the 403 when there are more metadata items than a project may give one thing. */
export async function checkMetadataQuota(core: Core, { caller }: Context, items: number): Promise<void> {
  const { metadata_items: limit } = await limitsOf(core, core.store, caller.projectId, caller.userId);
  if (limit >= 0 && items > limit) throw overQuota([{ kind: 'metadata_items', requested: items, used: 0, limit }]);
}

/** A compute host by name; undefined when there is none. */
export async function findHost({ infrastructure }: Core, name: string): Promise<Host | undefined> {
  return hostNamed(await infrastructure.hosts(), name);
}

/** Whether the host that a server is on shows signs of life; false for servers without one. */
export async function isHostUp(core: Core, { host }: Pick<Server, 'host'>): Promise<boolean> {
  const found = host === null ? undefined : (await core.infrastructure.hosts()).hosts.get(host);
  return found !== undefined && core.infrastructure.isUp(found.service);
}

/** Throws the 409 of actions that the host itself has to do. */
export async function checkHostUp(core: Core, server: Server): Promise<void> {
  if (await isHostUp(core, server)) return;
  throw conflict(`Instance ${server.id} cannot be changed: its host is unavailable at this time.`);
}
