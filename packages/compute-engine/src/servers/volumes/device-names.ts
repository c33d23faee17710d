import type { Server } from '../../model/index.js';

/** Letters of the n-th device, from 0: a, b, ... z, aa, ab, ... */
export function lettersOf(position: number): string {
  const last = String.fromCharCode(97 + (position % 26));
  return position < 26 ? last : lettersOf(Math.floor(position / 26) - 1) + last;
}

/** A device without the number of its partition: `/dev/vda1` is on `/dev/vda`. */
function diskOf(device: string): string {
  return device.replace(/[0-9]+$/, '');
}

/** Whether a device path of a server is free. */
export function isFree(server: Server, device: string): boolean {
  return !server.blockDevices.some((used) => diskOf(used.device) === diskOf(device));
}

/** Disks of the flavor that nobody has named: they are the first ones after the root disk. */
function impliedDisks({ flavor, blockDevices }: Server, stem: string): readonly string[] {
  if (blockDevices.some(({ destination, bootIndex }) => destination === 'local' && bootIndex !== 0)) return [];
  const count = Number(flavor.ephemeralGb > 0) + Number(flavor.swapMb > 0);
  return Array.from({ length: count }, (_, index) => stem + lettersOf(index + 1));
}

/** The next free device path, spelled like that of the root disk. */
export function nextDevice(server: Server): string {
  const stem = /^(\/dev\/x?[a-z]d)[a-z]+/.exec(server.rootDeviceName ?? '')?.[1] ?? '/dev/vd';
  const used = new Set(server.blockDevices.map(({ device }) => diskOf(device)));
  used.add(diskOf(server.rootDeviceName ?? '/dev/vda'));
  for (const device of impliedDisks(server, stem)) used.add(device);
  for (let position = 0; ; position++) {
    const device = stem + lettersOf(position);
    if (!used.has(device)) return device;
  }
}
