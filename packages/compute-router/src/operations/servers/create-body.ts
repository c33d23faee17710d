import { between, since, until } from '@apistrata/microversion';
import { derive, described, type Infer, object } from '@apistrata/microversion/schema';
import { z } from 'zod';
import * as type from '../../schemas/types.js';
import { serverTexts } from '../../views/server-field.js';
import { fieldsOf } from '../../views/server-request-fields.js';

/** OpenAPI descriptions that several fields share. */
const createBodyTexts = {
  networkUuid: 'UUID of the network on which to create a port.',
  tag: 'Device tag. The guest can read it from the server metadata.',
  noEffect: 'Has no effect. Accepted for compatibility.',
  networks:
    'Networks and ports to which the server is attached. Since 2.37, this field is required, and the values `auto` and `none` are also accepted.',
  group: 'UUID of the server group. Since 2.101, a list is also accepted.',
} as const;

const MAX_VOLUME_GIB = 2_147_483_647;

const network = object({
  uuid: [
    until('2.36', described(createBodyTexts.networkUuid, z.string().optional())),
    since('2.37', described(createBodyTexts.networkUuid, type.uuid.optional())),
  ],
  port: described('UUID of an existing port.', type.uuid.nullable().optional()),
  fixed_ip: described('Fixed IP address of the port.', type.ip.optional()),
  tag: [
    between('2.32', '2.36', described(createBodyTexts.tag, type.tag.optional())),
    since('2.42', described(createBodyTexts.tag, type.tag.optional())),
  ],
});

/** Fields that both block device mapping formats share. */
const deviceFields = {
  virtual_name: described(createBodyTexts.noEffect, z.string().max(255).optional()),
  volume_id: described('UUID of the volume to attach.', type.uuid.optional()),
  snapshot_id: described('UUID of the snapshot from which to create a volume.', type.uuid.optional()),
  volume_size: described(
    'Size of the new disk, in GiB, if the request creates one.',
    type.lenientInteger(1, MAX_VOLUME_GIB).optional(),
  ),
  device_name: described(
    'Device name in the guest, such as `/dev/vdb`. The hypervisor can select another name.',
    z
      .string()
      .min(1)
      .max(255)
      .regex(/^[a-zA-Z0-9._/-]*$/)
      .optional(),
  ),
  delete_on_termination: described(
    'Whether the volume is deleted when the server is deleted. Default: false.',
    type.lenientBoolean.optional(),
  ),
  no_device: described('If set, the disk that the image defines for this device is omitted.', z.unknown().optional()),
  connection_info: described(createBodyTexts.noEffect, z.string().max(16_777_215).optional()),
} as const;

const legacyDevice = object(deviceFields);

const shortTextSchema = z.string().max(255).optional();

const fullDevice = object({
  ...deviceFields,
  source_type: described(
    'Source of the disk: `image`, `volume`, `snapshot` or `blank`.',
    z.enum(['volume', 'image', 'snapshot', 'blank']).optional(),
  ),
  uuid: described(
    'UUID of the source image, volume or snapshot.',
    z
      .string()
      .min(1)
      .max(255)
      .regex(/^[a-zA-Z0-9._-]*$/)
      .optional(),
  ),
  image_id: described('UUID of the image from which to create a volume.', type.uuid.optional()),
  destination_type: described(
    'Where the disk is stored: `volume` for a volume, or `local` for a disk on the host.',
    z.enum(['local', 'volume']).optional(),
  ),
  guest_format: described('Format of a blank local disk, such as `ext4` or `swap`.', shortTextSchema),
  device_type: described('Device type, such as `disk` or `cdrom`.', shortTextSchema),
  disk_bus: described('Disk bus, such as `virtio` or `scsi`.', shortTextSchema),
  boot_index: described(
    'Boot order of the disk: 0 for the root disk; a negative number or null for a disk that is not bootable.',
    z
      .union([
        z.int(),
        z
          .string()
          .regex(/^-?[0-9]+$/)
          .transform(Number),
      ])
      .nullable()
      .optional(),
  ),
  tag: [
    between('2.32', '2.32', described(createBodyTexts.tag, type.tag.optional())),
    since('2.42', described(createBodyTexts.tag, type.tag.optional())),
  ],
  volume_type: since(
    '2.67',
    described(
      "Type of the new volume. Default: the volume service's default type.",
      z.string().max(255).nullable().optional(),
    ),
  ),
});

const server = object({
  ...fieldsOf('create'),
  flavorRef: described('ID of the flavor.', z.union([z.string().min(1), z.int().transform(String)])),
  networks: [
    until(
      '2.36',
      described(
        createBodyTexts.networks,
        derive(network, (item) => item.array().optional()),
      ),
    ),
    since(
      '2.37',
      described(
        createBodyTexts.networks,
        derive(network, (item) => z.union([item.array(), z.enum(['none', 'auto'])])),
      ),
    ),
  ],
  block_device_mapping: described(
    'Block device mapping in the old format, which supports only volumes and snapshots.',
    derive(legacyDevice, (item) => item.array().optional()),
  ),
  block_device_mapping_v2: described(
    "Block device mapping: the list of the server's disks, each with its source and destination.",
    derive(fullDevice, (item) => item.array().optional()),
  ),
  return_reservation_id: described(
    'Whether the response contains the reservation ID instead of the server. Default: false.',
    type.lenientBoolean.optional(),
  ),
});

const MAX_NESTING = 30;

/** Returns whether the nesting of scheduler hints is shallow enough to serialize them. */
function isShallow(value: unknown, levels = MAX_NESTING): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((inner) => isShallow(inner, levels - 1));
}

/** Schema for the UUID of a server, or a list of UUIDs. */
const serverIdsSchema = z.union([type.uuid, z.array(type.uuid)]);

const hintsSchema = object(
  {
    group: [
      until('2.100', described(createBodyTexts.group, type.uuid.optional())),
      since('2.101', described(createBodyTexts.group, serverIdsSchema.optional())),
    ],
    different_host: described(
      'UUIDs of servers. The scheduler selects a host that does not run any of these servers.',
      serverIdsSchema.optional(),
    ),
    same_host: described(
      'UUIDs of servers. The scheduler selects a host that runs at least one of these servers.',
      z.union([z.string(), z.array(type.uuid)]).optional(),
    ),
    query: described(
      "Condition that the host must meet, in the syntax of the scheduler's JSON filter.",
      z.union([z.string(), z.looseObject({}), z.array(z.unknown())]).optional(),
    ),
    target_cell: described(createBodyTexts.noEffect, type.name.optional()),
    different_cell: described(createBodyTexts.noEffect, z.union([z.string(), z.array(z.string())]).optional()),
    build_near_host_ip: described(
      'IP address of a host. The scheduler selects a host in the same subnet, whose size is defined by `cidr`.',
      type.ip.optional(),
    ),
    cidr: described(
      'Subnet size for `build_near_host_ip`, as a prefix length. Default: `/24`.',
      z
        .string()
        .regex(/^\/[0-9a-f.:]+$/)
        .optional(),
    ),
  },
  {
    extra: 'keep',
    check: (context) => {
      if (isShallow(context.value)) return;
      context.issues.push({ code: 'custom', input: context.value, message: 'Scheduler hints are nested too deeply' });
    },
  },
);

const optionalHints = derive(hintsSchema, (given) => given.optional());

/** Schema for the body of a request to create servers. */
export const createServerBody = object({
  server: described(serverTexts.requestedServer, server),
  'os:scheduler_hints': described('Hints for the scheduler, which selects the host.', optionalHints),
  'OS-SCH-HNT:scheduler_hints': described('Alias of `os:scheduler_hints`.', optionalHints),
});

export type CreateServerBody = Infer<typeof createServerBody>;
