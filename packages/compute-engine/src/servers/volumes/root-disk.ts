import type { Server } from '../../model/index.js';

/** A server whose root disk is a volume. */
export function isVolumeBacked({ blockDevices }: Pick<Server, 'blockDevices'>): boolean {
  return blockDevices.some(({ bootIndex, destination }) => bootIndex === 0 && destination === 'volume');
}

/** True when the root disk is on the host itself. */
export function hasLocalRoot(server: Pick<Server, 'blockDevices'>): boolean {
  return !isVolumeBacked(server);
}
