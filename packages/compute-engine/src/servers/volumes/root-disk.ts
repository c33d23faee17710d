import type { Server } from '../../model/index.js';
import type { CapacityFields } from '../../scheduler/amounts.js';

/** Returns whether the root disk of a server is a volume. */
export function isVolumeBacked({ blockDevices }: Pick<Server, 'blockDevices'>): boolean {
  return blockDevices.some(({ bootIndex, destination }) => bootIndex === 0 && destination === 'volume');
}

/** Returns whether the root disk of a server is stored on its host instead of in the volume service. */
export function hasLocalRoot(server: Pick<Server, 'blockDevices'>): boolean {
  return !isVolumeBacked(server);
}

/** Returns the fields of a server that determine its required capacity. */
export function serverContentOf(server: Pick<Server, 'blockDevices' | 'imageProperties'>): CapacityFields {
  return { localRoot: hasLocalRoot(server), imageProperties: server.imageProperties };
}
