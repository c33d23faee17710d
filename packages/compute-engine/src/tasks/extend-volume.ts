import type { SideTask } from './side-run.js';

interface ExtendVolumeArguments {
  readonly volumeId: string;
}

/** Tells the machine that one of its volumes has grown, and the volume service that it knows. */
export const extendVolumeTask: SideTask = {
  action: 'extendVolume',
  run: async (run) => {
    const { volumeId } = run.arguments as ExtendVolumeArguments;
    await run.step('compute_extend_volume', async () => {
      const device = run.server.blockDevices.find((d) => d.volumeId === volumeId);
      if (!device) throw new Error(`Volume ${volumeId} is not attached to server ${run.server.id}`);
      await run.perform({ verb: 'extend_volume', device });
      await run.core.catalogs.volumes.completeExtend(run.context.caller, volumeId, false);
    });
    await run.finish({});
  },
  undo: async (run) => {
    const { volumeId } = run.arguments as ExtendVolumeArguments;
    await run.core.catalogs.volumes.completeExtend(run.context.caller, volumeId, true).catch(() => {});
  },
};
