import { randomUUID } from 'node:crypto';
import type { Context } from '../../../context.js';
import { badRequest } from '../../../errors.js';
import { beginMigration, changeMigration } from '../../../migrations/migration-record.js';
import type { Flavor, FlavorCopy, MigrationStatus, Server } from '../../../model/index.js';
import { checkServerQuota } from '../../../quotas/server-quota.js';
import type { Session, Tx } from '../../../store/database.js';
import { tables } from '../../../store/tables.js';
import { isVolumeBacked } from '../../../volumes/root-disk.js';
import { copyOf } from '../create.js';
import { type ActionScope, checkHostUp, findHost } from './scope.js';

/** A request for another flavor. */
export interface ResizeRequest {
  readonly flavorId: string;
  readonly diskConfig?: 'AUTO' | 'MANUAL';
}

/** Resizing and cold migration, and the verdict on them. */
export function resizeActions({ core, servers }: ActionScope) {
  async function flavorFor(context: Context, id: string): Promise<Flavor> {
    const flavor = await tables.flavors.get(core.store, id);
    const usable =
      flavor &&
      !flavor.disabled &&
      (flavor.isPublic || context.isAdmin || flavor.projects.includes(context.caller.projectId));
    if (!usable) throw badRequest(`Flavor ${id} could not be found.`);
    return flavor;
  }

  /** The image must still be there: the disk may be made from it once more. */
  async function checkImage({ caller }: Context, { imageId }: Server): Promise<void> {
    if (imageId === '') return;
    await core.catalogs.images.get(caller, imageId).catch(() => {
      throw badRequest('Image that the instance was started with could not be found.');
    });
  }

  /** Counts only what becomes more; a project is never kept from shrinking. */
  async function checkGrowth(tx: Tx, context: Context, { flavor: old, projectId }: Server, next: FlavorCopy) {
    const more = { cores: next.vcpus - old.vcpus, ram: next.memoryMb - old.memoryMb };
    const growth = Object.fromEntries(Object.entries(more).filter(([, amount]) => amount > 0));
    if (Object.keys(growth).length === 0) return;
    await checkServerQuota(core, tx, { ...context, caller: { ...context.caller, projectId } }, growth);
  }

  /** The move that waits for its verdict; 400 when there is none. */
  async function verdict(
    context: Context,
    server: Server,
    action: 'confirmResize' | 'revertResize',
    status: MigrationStatus,
  ): Promise<void> {
    const waiting = (session: Session) =>
      tables.migrations.find(session, (q) =>
        q.where('server_id', '=', server.id).where('status', '=', 'finished').orderBy('seq', 'desc').limit(1),
      );
    const none = badRequest(`Instance ${server.id} has not been resized.`);
    const [migration] = await waiting(core.store);
    if (!migration) throw none;
    await servers.act(context, server.id, action, {
      arguments: { migrationId: migration.id },
      also: async (tx) => {
        if ((await waiting(tx))[0]?.id !== migration.id) throw none;
        await changeMigration(tx, core, migration.id, { status });
        return undefined;
      },
    });
  }

  return {
    async resize(context: Context, id: string, { flavorId, diskConfig }: ResizeRequest): Promise<void> {
      const server = await servers.ready(context, id, 'resize');
      const flavor = await flavorFor(context, flavorId);
      if (flavor.id === server.flavor.id) throw badRequest('When resizing, instances must change flavor!');
      if (flavor.diskGb === 0 && server.flavor.diskGb !== 0 && !isVolumeBacked(server))
        throw badRequest('Resize to zero disk flavor is not allowed.');
      await checkImage(context, server);
      await checkHostUp(core, server);
      const next = copyOf(flavor);
      const migrationId = randomUUID();
      await servers.act(context, id, 'resize', {
        arguments: { migrationId, flavor: next },
        also: async (tx, current) => {
          await checkGrowth(tx, context, current, next);
          await beginMigration(tx, core, context, current, { id: migrationId, type: 'resize', flavor: next });
          return {
            newFlavor: next,
            diskConfig: diskConfig ?? current.diskConfig,
            wasRunning: current.vmState === 'active',
          };
        },
      });
    },

    /** @param host where to; left out: the scheduler says */
    async migrate(context: Context, id: string, host?: string): Promise<void> {
      const server = await servers.ready(context, id, 'migrate');
      const wanted = host === undefined ? undefined : await findHost(core, host);
      if (host !== undefined && !wanted) throw badRequest(`The destination host ${host} is not a compute host.`);
      if (wanted && wanted.name === server.host) throw badRequest('The target host cannot be the same one.');
      await checkHostUp(core, server);
      const migrationId = randomUUID();
      await servers.act(context, id, 'migrate', {
        arguments: { migrationId, flavor: server.flavor, host: wanted?.name },
        also: async (tx, current) => {
          await beginMigration(tx, core, context, current, { id: migrationId, type: 'migration' });
          return { wasRunning: current.vmState === 'active' };
        },
      });
    },

    async confirmResize(context: Context, id: string): Promise<void> {
      const server = await servers.ready(context, id, 'confirmResize');
      await checkHostUp(core, server);
      await verdict(context, server, 'confirmResize', 'confirming');
    },

    async revertResize(context: Context, id: string): Promise<void> {
      await verdict(context, await servers.ready(context, id, 'revertResize'), 'revertResize', 'reverting');
    },
  };
}
