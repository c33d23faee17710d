import { type DiskShape, isVolume, type VolumeShape } from './machine-shape.js';

type Json = Readonly<Record<string, unknown>>;

/** QEMU takes no longer names of nodes. */
const MAX_NODE_NAME = 31;
/** Guests see no more of a serial number. */
const MAX_SERIAL = 36;

/** The node of QEMU's block layer that a disk is. */
export function nodeName(diskId: string): string {
  return diskId.slice(0, MAX_NODE_NAME);
}

/** What `blockdev-add` and `-blockdev` take for a disk. */
export function blockNode(disk: DiskShape | VolumeShape): Json {
  const common = { 'node-name': nodeName(disk.id), discard: 'unmap' };
  if (isVolume(disk)) {
    const server = { type: 'unix', path: disk.socket };
    return { ...common, driver: 'nbd', server, export: disk.exportName, 'read-only': disk.readOnly };
  }
  return { ...common, driver: 'qcow2', file: { driver: 'file', filename: disk.file } };
}

/** What `device_add` and `-device` take for a disk. */
export function blockDevice(disk: DiskShape | VolumeShape): Json {
  const serial = isVolume(disk) ? { serial: disk.serial.slice(0, MAX_SERIAL) } : {};
  return { driver: 'virtio-blk-pci', id: disk.id, drive: nodeName(disk.id), ...serial };
}
