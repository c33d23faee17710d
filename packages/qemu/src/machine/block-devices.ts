import type { DiskModel } from '../tuning/tuning.js';
import { type DiskShape, isVolume, type VolumeShape } from './machine-shape.js';

type Json = Readonly<Record<string, unknown>>;

/** Maximum length of a node name in QEMU. */
const MAX_NODE_NAME = 29;
/** Maximum length of a disk's serial number. */
const MAX_SERIAL = 20;
/** How long a guest waits for a volume whose server process is being restarted. */
const RECONNECT_SECONDS = 60;

/** Returns the name of a disk's node in QEMU's block layer. */
export function nodeName(diskId: string): string {
  return diskId.replaceAll('-', '').slice(0, MAX_NODE_NAME);
}

/** The QEMU block nodes of a volume: one for the guest's device, and one for the connection behind it. */
export interface VolumeNodes {
  /** Each node has two names, because the old and the new node exist at the same time during a replacement. */
  readonly front: readonly [string, string];
  readonly connection: readonly [string, string];
}

export function volumeNodes(deviceId: string): VolumeNodes {
  const stem = nodeName(deviceId);
  return { front: [`${stem}-a`, `${stem}-b`], connection: [`${stem}-c`, `${stem}-d`] };
}

/** Returns the `blockdev-add` arguments of the connection to a volume. */
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

/**
 * Returns the node between the guest and the connection to a volume, which allows replacing the connection under a
 * running guest.
 */
export function frontNode({ readOnly }: VolumeShape, name: string, connection: string): Json {
  return { 'node-name': name, driver: 'raw', file: connection, 'read-only': readOnly, discard: 'unmap' };
}

/** Returns the `blockdev-add` or `-blockdev` arguments of a disk, in order. */
export function blockNodes(disk: DiskShape | VolumeShape): readonly Json[] {
  if (isVolume(disk)) {
    const { front, connection } = volumeNodes(disk.id);
    return [connectionNode(disk, connection[0]), frontNode(disk, front[0], connection[0])];
  }
  const file = { driver: 'file', filename: disk.file };
  if (disk.cdrom) return [{ 'node-name': nodeName(disk.id), driver: 'raw', 'read-only': true, file }];
  return [{ 'node-name': nodeName(disk.id), driver: 'qcow2', file, discard: 'unmap' }];
}

/** Returns true if a disk is a CD, whose drive is on the IDE bus that every machine has. */
export function isCdrom(disk: DiskShape | VolumeShape): boolean {
  return !isVolume(disk) && disk.cdrom === true;
}

/** Returns the `device_add` or `-device` arguments of a disk. */
export function blockDevice(disk: DiskShape | VolumeShape, model: DiskModel): Json {
  const driver = isCdrom(disk) ? 'ide-cd' : model;
  const device = { driver, id: disk.id, ...(driver === 'scsi-hd' && { bus: 'scsi.0' }) };
  if (!isVolume(disk)) return { ...device, drive: nodeName(disk.id) };
  return { ...device, drive: volumeNodes(disk.id).front[0], serial: disk.serial.slice(0, MAX_SERIAL) };
}
