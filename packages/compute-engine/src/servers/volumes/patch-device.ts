import type { BlockDevice, Server, ServerPatch } from '../../model/index.js';

/** Returns the patch of a server record that changes one of the server's block devices. */
export function patchDevice({ blockDevices }: Server, deviceId: string, change: Partial<BlockDevice>): ServerPatch {
  return { blockDevices: blockDevices.map((device) => (device.id === deviceId ? { ...device, ...change } : device)) };
}
