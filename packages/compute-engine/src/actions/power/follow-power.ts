import type { Core } from '../../core/core.js';
import { Refusal } from '../../errors/refusal.js';
import type { PowerState, Server, VmState } from '../../model/index.js';
import { tables } from '../../schema/tables.js';
import { beginAction } from '../runner/begin-action.js';
import type { Cleanup } from '../runner/cleanup.js';
import { Superseded } from '../runner/superseded.js';
import { stop } from './stop.js';

export interface FollowPowerArguments {
  /** The revision of the server that was compared with its machine. */
  readonly revision: number;
  readonly powerState: PowerState;
}

/** Servers that are stopped when their machine has ended; of others only the power state follows, as in Nova. */
const STOPPED: ReadonlySet<VmState> = new Set<VmState>(['active', 'paused']);

/**
 * Has a server follow its machine, which has ended by itself: the guest switched itself off, or its process was killed. In the
 * history this is a stop, as in Nova. A server that has changed meanwhile is left alone.
 */
export const followPower: Cleanup = {
  name: 'followPower',
  async run(core, { serverId, payload }) {
    const { revision, powerState } = payload.arguments as FollowPowerArguments;
    const server = serverId === null ? undefined : await tables.servers.get(core.store, serverId);
    if (!server || server.deleted || server.revision !== revision) return;
    const change = (current: Server) => {
      if (current.revision !== revision)
        throw new Superseded(`${current.id} has changed since it was compared with its machine`);
      return { powerState };
    };
    try {
      if (!STOPPED.has(server.vmState)) return await changePower(core, server.id, payload.context, change);
      const begin = async () => ({ arguments: {}, change: (_: unknown, current: Server) => change(current) });
      await beginAction(core, { ...stop, vm: [...STOPPED], begin }, payload.context, server.id, undefined);
    } catch (error) {
      if (!(error instanceof Superseded) && !(error instanceof Refusal)) throw error;
    }
  },
};

async function changePower(
  core: Core,
  id: string,
  context: Parameters<typeof beginAction>[2],
  change: (server: Server) => { readonly powerState: PowerState },
): Promise<void> {
  await core.store.transaction(async (tx) => {
    const server = await tables.servers.lock(tx, id);
    if (!server || server.deleted) return;
    tx.concerns(server.projectId);
    const changed = await tables.servers.update(tx, { ...server, ...change(server), updatedAt: core.clock.now() });
    await core.events.changed(tx, server, changed, context);
  });
}
