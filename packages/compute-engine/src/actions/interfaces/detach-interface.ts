import { excludePort } from '../../servers/interfaces/server-interface.js';
import { concurrentAction } from '../runner/action.js';

/** A request to detach a network interface from a server. */
export interface InterfaceDetachment {
  readonly portId: string;
}

/**
 * Detaches a network interface. A port that was created for the server is deleted; any other port is released. A
 * request to detach an unknown interface is accepted and fails in the background. After a failure, the interface
 * remains until it is detached again or the server is deleted.
 */
export const detachInterface = concurrentAction({
  name: 'detachInterface',
  vmStates: ['active', 'paused', 'stopped'],
  lock: true,
  history: 'detach_interface',
  notifies: 'interface_detach',
  nameInMessages: 'detach_interface',
  begin: async (_scope, { portId }: InterfaceDetachment) => ({ arguments: { portId } }),
  run: async (run) => {
    const { portId } = run.arguments;
    await run.step('compute_detach_interface', async () => {
      const attachedInterface = run.server.interfaces.find((candidate) => candidate.portId === portId);
      if (!attachedInterface) {
        // An earlier attempt of this job may already have detached the interface.
        if (run.job.attempts > 1) return;
        throw new Error(`Port ${portId} is not attached to server ${run.server.id}`);
      }
      await run.perform({ verb: 'detach_interface', interface: attachedInterface });
      const ids = attachedInterface.owned ? { owned: [portId], bound: [] } : { owned: [], bound: [portId] };
      await run.core.catalogs.networks.releasePorts(run.context.caller, run.server.id, ids);
    });
    await run.change(({ interfaces }) => ({ interfaces: excludePort(interfaces, portId) }));
  },
});
