import { concurrentAction } from '../runner/action.js';

/** A report from the volume service that an attached volume was extended. */
export interface VolumeExtension {
  readonly volumeId: string;
}

/** Notifies the machine that one of its volumes was extended, and confirms the extension to the volume service. */
export const extendVolume = concurrentAction({
  name: 'extendVolume',
  taskStates: 'any',
  lock: false,
  history: 'extend_volume',
  notifies: null,
  nameInMessages: 'extend_volume',
  begin: async (_scope, { volumeId }: VolumeExtension) => ({ arguments: { volumeId } }),
  run: async (run) => {
    const { volumeId } = run.arguments;
    await run.step('compute_extend_volume', async () => {
      const device = run.server.blockDevices.find((candidate) => candidate.volumeId === volumeId);
      if (!device) throw new Error(`Volume ${volumeId} is not attached to server ${run.server.id}`);
      await run.perform({ verb: 'extend_volume', device });
      await run.core.catalogs.volumes.completeExtend(run.context.caller, volumeId, false);
    });
    await run.finish({});
  },
  undo: async (run) => {
    await run.core.catalogs.volumes.completeExtend(run.context.caller, run.arguments.volumeId, true).catch(() => {});
  },
});
