import type { DiskModel } from '../tuning/tuning.js';
import { type DiskShape, isVolume, type VolumeShape } from './machine-shape.js';

type JsonObject = Readonly<Record<string, unknown>>;

/** The maximum length of a QEMU block node name. */
const MAX_NODE_NAME_LENGTH = 29;
/** The maximum length of a disk serial number. */
const MAX_SERIAL_LENGTH = 20;
/** How long a guest waits for a volume while the process that serves it is restarted. */
const DEFAULT_RECONNECT_SECONDS = 60;

/** Returns the name of a disk's block node in QEMU. */
export function nodeName(diskId: string): string {
  return diskId.replaceAll('-', '').slice(0, MAX_NODE_NAME_LENGTH);
}

/** The names of a volume's QEMU block nodes: one node for the guest's device, and one for the connection behind it. */
export interface VolumeNodeNames {
  /** Each node has two possible names, because the old and the new node coexist during a replacement. */
  readonly front: readonly [string, string];
  readonly connection: readonly [string, string];
}

export function volumeNodeNames(deviceId: string): VolumeNodeNames {
  const namePrefix = nodeName(deviceId);
  return { front: [`${namePrefix}-a`, `${namePrefix}-b`], connection: [`${namePrefix}-c`, `${namePrefix}-d`] };
}

/** Returns the `blockdev-add` arguments for a volume's connection node. */
export function createConnectionNode(volume: VolumeShape, name: string): JsonObject {
  const { socket, exportName, readOnly, reconnectSeconds = DEFAULT_RECONNECT_SECONDS } = volume;
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
 * Returns the `blockdev-add` arguments for the node between the guest and a volume's connection node. Thanks to this
 * node, the connection can be replaced while the guest runs.
 */
export function createFrontNode({ readOnly }: VolumeShape, name: string, connection: string): JsonObject {
  return { 'node-name': name, driver: 'raw', file: connection, 'read-only': readOnly, discard: 'unmap' };
}

/** Returns the `blockdev-add` or `-blockdev` arguments for a disk's block nodes, in the order of their creation. */
export function createBlockNodes(disk: DiskShape | VolumeShape): readonly JsonObject[] {
  if (isVolume(disk)) {
    const { front, connection } = volumeNodeNames(disk.id);
    return [createConnectionNode(disk, connection[0]), createFrontNode(disk, front[0], connection[0])];
  }
  const file = { driver: 'file', filename: disk.file };
  if (disk.cdrom) return [{ 'node-name': nodeName(disk.id), driver: 'raw', 'read-only': true, file }];
  return [{ 'node-name': nodeName(disk.id), driver: 'qcow2', file, discard: 'unmap' }];
}

/** Returns true if a disk is a CD. Its drive is attached to the IDE bus, which every machine has. */
export function isCdrom(disk: DiskShape | VolumeShape): boolean {
  return !isVolume(disk) && disk.cdrom === true;
}

/** Returns the `device_add` or `-device` arguments for a disk. */
export function createBlockDevice(disk: DiskShape | VolumeShape, model: DiskModel): JsonObject {
  const driver = isCdrom(disk) ? 'ide-cd' : model;
  const device = { driver, id: disk.id, ...(driver === 'scsi-hd' && { bus: 'scsi.0' }) };
  if (!isVolume(disk)) return { ...device, drive: nodeName(disk.id) };
  return { ...device, drive: volumeNodeNames(disk.id).front[0], serial: disk.serial.slice(0, MAX_SERIAL_LENGTH) };
}
