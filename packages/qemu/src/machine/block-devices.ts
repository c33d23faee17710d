import type { DiskModel } from '../tuning/tuning.js';
import { type DiskShape, isVolume, type VolumeShape } from './machine-shape.js';

type Json = Readonly<Record<string, unknown>>;

/** QEMU takes no longer names of nodes. */
const MAX_NODE_NAME = 29;
/** Disks of this kind have no longer serial numbers. */
const MAX_SERIAL = 20;
/** How long a guest waits for a volume whose server has gone, and is being started again. */
const RECONNECT_SECONDS = 60;

/** The node of QEMU's block layer that a disk is. */
export function nodeName(diskId: string): string {
  return diskId.replaceAll('-', '').slice(0, MAX_NODE_NAME);
}

/** What a volume is made of in QEMU: the node that the guest's device has, and the connection behind it. */
export interface VolumeNodes {
  /** There are two of each while the one takes the place of the other. */
  readonly front: readonly [string, string];
  readonly connection: readonly [string, string];
}

export function volumeNodes(deviceId: string): VolumeNodes {
  const stem = nodeName(deviceId);
  return { front: [`${stem}-a`, `${stem}-b`], connection: [`${stem}-c`, `${stem}-d`] };
}

/** What `blockdev-add` takes for the connection to a volume. */
export function connectionNode(volume: VolumeShape, name: string): Json {
  const { socket, exportName, readOnly, reconnectSeconds = RECONNECT_SECONDS } = volume;
  return {
    'node-name': name,
    driver: 'nbd',
    server: { type: 'unix', path: socket },
    export: exportName,
    'read-only': readOnly,
    'reconnect-delay': reconnectSeconds,
    discard: 'unmap',
  };
}

/** What stands between the guest and the connection to a volume, so that this can be exchanged under a running guest. */
export function frontNode({ readOnly }: VolumeShape, name: string, connection: string): Json {
  return { 'node-name': name, driver: 'raw', file: connection, 'read-only': readOnly, discard: 'unmap' };
}

/** What `blockdev-add` and `-blockdev` take for a disk, one after the other. */
export function blockNodes(disk: DiskShape | VolumeShape): readonly Json[] {
  if (isVolume(disk)) {
    const { front, connection } = volumeNodes(disk.id);
    return [connectionNode(disk, connection[0]), frontNode(disk, front[0], connection[0])];
  }
  const file = { driver: 'file', filename: disk.file };
  return [{ 'node-name': nodeName(disk.id), driver: 'qcow2', file, discard: 'unmap' }];
}

/** What `device_add` and `-device` take for a disk. */
export function blockDevice(disk: DiskShape | VolumeShape, driver: DiskModel): Json {
  const device = { driver, id: disk.id, ...(driver === 'scsi-hd' && { bus: 'scsi.0' }) };
  if (!isVolume(disk)) return { ...device, drive: nodeName(disk.id) };
  return { ...device, drive: volumeNodes(disk.id).front[0], serial: disk.serial.slice(0, MAX_SERIAL) };
}
