import type { SideTask } from './side-run.js';

interface DetachInterfaceArguments {
  readonly portId: string;
}

/** Unplugs an interface; its port is deleted when it was made for the server, else given back. */
export const detachInterfaceTask: SideTask = {
  action: 'detachInterface',
  run: async (run) => {
    const { portId } = run.arguments as DetachInterfaceArguments;
    await run.step('compute_detach_interface', async () => {
      const plugged = run.server.interfaces.find((one) => one.portId === portId);
      if (!plugged) {
        // An earlier attempt may have come that far.
        if (run.job.attempts > 1) return;
        throw new Error(`Port ${portId} is not attached to server ${run.server.id}`);
      }
      await run.perform({ verb: 'detach_interface', interface: plugged });
      const ids = plugged.owned ? { owned: [portId], bound: [] } : { owned: [], bound: [portId] };
      await run.core.catalogs.networks.releasePorts(run.context.caller, run.server.id, ids);
    });
    await run.change(({ interfaces }) => ({ interfaces: interfaces.filter((one) => one.portId !== portId) }));
  },
  // The interface stays, or goes with the server.
  undo: async () => {},
};
