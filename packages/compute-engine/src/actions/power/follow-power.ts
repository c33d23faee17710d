import { backgroundContext } from '../../core/context.js';
import type { Core } from '../../core/core.js';
import { Rejection } from '../../errors/rejection.js';
import type { PowerState, Server, VmState } from '../../model/index.js';
import { isTruthyString } from '../../resources/extra-specs/is-truthy-string.js';
import { tables } from '../../schema/tables.js';
import { beginAction } from '../runner/begin-action.js';
import type { Cleanup } from '../runner/cleanup.js';
import { Superseded } from '../runner/superseded.js';
import { start } from './start.js';
import { stop } from './stop.js';

/** Arguments of the job that updates a server after its machine has changed its power state. */
export interface FollowPowerArguments {
  /** Revision of the server record when it was compared with the machine. */
  readonly revision: number;
  readonly powerState: PowerState;
  /**
   * Whether the machine stopped because its host was powered off or restarted. Missing in jobs that earlier versions
   * stored.
   */
  readonly withHost?: boolean;
}

/**
 * Power states of a machine that is on: running (1), or paused by the hypervisor (3), for example because a disk is
 * full.
 */
const POWERED_ON_STATES: ReadonlySet<PowerState> = new Set<PowerState>([1, 3]);
/**
 * The `vm_state` values that become `stopped` when the server's machine has stopped. In other states, only the power
 * state changes, as in Nova.
 */
const STOPPABLE_VM_STATES: ReadonlySet<VmState> = new Set<VmState>(['active', 'paused']);

/** Returns whether a server must be started again after its host has restarted. */
function shouldStartWithHost({ settings }: Core, { vmState, metadata }: Server): boolean {
  if (vmState !== 'active') return false;
  const { autostart } = metadata;
  return autostart === undefined ? settings.resumeGuestsOnHostBoot : isTruthyString(autostart);
}

/**
 * Updates a server whose machine stopped without a request, because the guest shut down or the hypervisor process was
 * killed. The action history shows a stop, as in Nova. If the server stopped together with its host, and the server's
 * metadata or the settings request a restart, the server is started again and the action history shows a start. A
 * server that has changed in the meantime is skipped.
 */
export const followPower: Cleanup = {
  name: 'followPower',
  async run(core, { serverId, payload }) {
    const { revision, powerState, withHost = false } = payload.arguments as FollowPowerArguments;
    const server = serverId === null ? undefined : await tables.servers.get(core.store, serverId);
    if (!server || server.deleted || server.revision !== revision) return;
    // A host may have stored this job, but it must not choose the caller on whose behalf the job runs.
    const context = backgroundContext(server);
    const change = (current: Server) => {
      if (current.revision !== revision)
        throw new Superseded(`server ${current.id} has changed since it was compared with its machine`);
      return { powerState };
    };
    try {
      if (POWERED_ON_STATES.has(powerState) || !STOPPABLE_VM_STATES.has(server.vmState))
        return await changePower(core, server.id, context, change);
      const shouldStart = withHost && shouldStartWithHost(core, server);
      const createPatch = (current: Server) => ({
        ...change(current),
        ...(shouldStart && { vmState: 'stopped' as const }),
      });
      const begin = async () => ({ arguments: {}, change: (_: unknown, current: Server) => createPatch(current) });
      const record = { ...(shouldStart ? start : stop), vmStates: [...STOPPABLE_VM_STATES], begin };
      await beginAction(core, record, context, server.id, undefined);
    } catch (error) {
      if (!(error instanceof Superseded) && !(error instanceof Rejection)) throw error;
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
    const changedServer = await tables.servers.update(tx, {
      ...server,
      ...change(server),
      updatedAt: core.clock.now(),
    });
    await core.events.emitState(tx, server, changedServer, context);
  });
}
