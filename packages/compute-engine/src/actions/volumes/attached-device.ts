import type { BlockDevice, Server } from '../../model/index.js';
import type { ConcurrentRun } from '../runner/concurrent-run.js';
import { ifStillThere, Superseded } from '../runner/superseded.js';

/** The disk with that id; throws `Superseded` when the server has it no more. */
export function deviceOf(server: Server, deviceId: string): BlockDevice {
  const device = server.blockDevices.find(({ id }) => id === deviceId);
  if (!device) throw new Superseded(`${server.id} has no device ${deviceId} any more`);
  return device;
}

/** Changes one disk and leaves the others as they are. */
export async function changeDevice(run: ConcurrentRun, deviceId: string, change: Partial<BlockDevice>): Promise<void> {
  await run.change((server) => {
    const changed = { ...deviceOf(server, deviceId), ...change };
    return { blockDevices: server.blockDevices.map((device) => (device.id === deviceId ? changed : device)) };
  });
}

/** Takes one disk out of the server, if both are still there. */
export async function dropDevice(run: ConcurrentRun, deviceId: string): Promise<void> {
  await ifStillThere(() =>
    run.change((server) => {
      deviceOf(server, deviceId);
      return { blockDevices: server.blockDevices.filter(({ id }) => id !== deviceId) };
    }),
  );
}
