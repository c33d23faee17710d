import { changeDevice, deviceOf, dropDevice, forgetAttachment } from './attached-volume.js';
import type { SideRun, SideTask } from './side-run.js';

interface AttachVolumeArguments {
  /** Id of the block device, which is also the key under which the volume is reserved. */
  readonly deviceId: string;
  readonly volumeId: string;
}

/** Connects a reserved volume. A server without a host only keeps the reservation: it is connected with its next host. */
async function connect(run: SideRun, { deviceId: key }: AttachVolumeArguments): Promise<void> {
  const { volumes } = run.core.catalogs;
  const { caller } = run.context;
  const { id: serverId, host } = run.server;
  const device = deviceOf(run.server, key);
  const volumeId = device.volumeId!;
  const attachmentId = device.attachmentId ?? (await volumes.reserve(caller, { key, volumeId, serverId })).id;
  if (attachmentId !== device.attachmentId) await changeDevice(run, key, { attachmentId });
  if (!host) return;
  await volumes.connect(caller, attachmentId, { host, mountpoint: device.device });
  await run.perform({ verb: 'attach_volume', device: { ...device, attachmentId } });
  await volumes.complete(caller, attachmentId);
}

/** Attaches the volume of a device that the request has reserved. */
export const attachVolumeTask: SideTask = {
  action: 'attachVolume',
  run: async (run) => {
    const asked = run.arguments as AttachVolumeArguments;
    let host: string | null;
    // A move that began meanwhile may have taken the server to another host: the volume follows.
    do {
      host = run.server.host;
      await run.step('compute_attach_volume', () => connect(run, asked));
      await changeDevice(run, asked.deviceId, { attachedAt: run.core.clock.now() });
    } while (run.server.host !== host);
  },
  undo: async (run) => {
    const { deviceId, volumeId } = run.arguments as AttachVolumeArguments;
    const attachmentId = run.server.blockDevices.find(({ id }) => id === deviceId)?.attachmentId ?? null;
    const { core, context, server } = run;
    await forgetAttachment(core, context.caller, { key: deviceId, volumeId, serverId: server.id, attachmentId });
    await dropDevice(run, deviceId);
  },
};
