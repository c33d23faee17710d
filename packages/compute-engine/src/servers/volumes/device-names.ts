import type { Server } from '../../model/index.js';

/** Returns the letters of the device name at a position, starting at 0: a, b, ... z, aa, ab, ... */
export function deviceLetters(position: number): string {
  const last = String.fromCharCode(97 + (position % 26));
  return position < 26 ? last : deviceLetters(Math.floor(position / 26) - 1) + last;
}

/** Returns the disk of a device without the partition number. For example, `/dev/vda1` is on `/dev/vda`. */
function diskOf(device: string): string {
  return device.replace(/[0-9]+$/, '');
}

/** Returns whether none of a server's devices is on the disk with the given device path. */
export function isDevicePathFree(server: Server, device: string): boolean {
  return !server.blockDevices.some((used) => diskOf(used.device) === diskOf(device));
}

/** Returns the device paths of the flavor's ephemeral and swap disks, which follow the root disk. */
function impliedDevicePaths({ flavor, blockDevices }: Server, prefix: string): readonly string[] {
  if (blockDevices.some(({ destination, bootIndex }) => destination === 'local' && bootIndex !== 0)) return [];
  const count = Number(flavor.ephemeralGb > 0) + Number(flavor.swapMb > 0);
  return Array.from({ length: count }, (_, index) => prefix + deviceLetters(index + 1));
}

/** Returns a server's next free device path, with the prefix of the root disk. */
export function nextDevicePath(server: Server): string {
  const prefix = /^(\/dev\/x?[a-z]d)[a-z]+/.exec(server.rootDeviceName ?? '')?.[1] ?? '/dev/vd';
  const used = new Set(server.blockDevices.map(({ device }) => diskOf(device)));
  used.add(diskOf(server.rootDeviceName ?? '/dev/vda'));
  for (const device of impliedDevicePaths(server, prefix)) used.add(device);
  for (let position = 0; ; position++) {
    const device = prefix + deviceLetters(position);
    if (!used.has(device)) return device;
  }
}
