import type { Image } from '@apistrata/catalogs';
import { type DeviceDraft, normalizeDevicePath, originOf } from './create-block-devices.js';

const DEVICE_SOURCES = ['volume', 'image', 'snapshot', 'blank'] as const;

/**
 * Returns the disks that an image defines. An image of a volume-backed server lists snapshots of the server's volumes
 * in the image property `block_device_mapping`. Unknown entries are skipped. Throws 400 for an entry without the id of
 * its source.
 */
export function devicesOfImage({ properties }: Image): readonly DeviceDraft[] {
  const text = properties.block_device_mapping;
  if (text === undefined) return [];
  let parsedList: unknown;
  try {
    parsedList = JSON.parse(text);
  } catch {
    return [];
  }
  return Array.isArray(parsedList) ? parsedList.flatMap(parseEntry) : [];
}

const nonEmptyString = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null);

function parseEntry(entry: unknown): DeviceDraft[] {
  if (typeof entry !== 'object' || entry === null) return [];
  const item = entry as Readonly<Record<string, unknown>>;
  const source = DEVICE_SOURCES.find((name) => name === item.source_type);
  if (!source || item.no_device) return [];
  const bootIndex = Number(item.boot_index ?? -1);
  const size = Number(item.volume_size ?? 0);
  const destination = item.destination_type === 'local' ? 'local' : 'volume';
  const sourceId =
    nonEmptyString(item.snapshot_id) ??
    nonEmptyString(item.image_id) ??
    nonEmptyString(item.volume_id) ??
    nonEmptyString(item.uuid);
  return [
    {
      ...originOf({ source, sourceId: source === 'blank' ? undefined : (sourceId ?? undefined) }),
      destination,
      bootIndex: Number.isInteger(bootIndex) && bootIndex >= 0 ? bootIndex : null,
      size: Number.isInteger(size) && size > 0 ? size : null,
      volumeType: nonEmptyString(item.volume_type),
      device: normalizeDevicePath(nonEmptyString(item.device_name) ?? undefined),
      deleteOnTermination: item.delete_on_termination === true,
      guestFormat: nonEmptyString(item.guest_format),
      deviceType: nonEmptyString(item.device_type),
      diskBus: nonEmptyString(item.disk_bus),
      tag: nonEmptyString(item.tag),
    },
  ];
}
