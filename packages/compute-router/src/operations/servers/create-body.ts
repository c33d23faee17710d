import { between, since, until } from '@apistrata/microversion';
import { derive, type Infer, object } from '@apistrata/microversion/schema';
import { z } from 'zod';
import * as type from '../../schemas/types.js';
import { fieldsOf } from '../../views/server-request-fields.js';

const MAX_VOLUME_GIB = 2_147_483_647;

const network = object({
  uuid: [until('2.36', z.string().optional()), since('2.37', type.uuid.optional())],
  port: type.uuid.nullable().optional(),
  fixed_ip: type.ip.optional(),
  tag: [between('2.32', '2.36', type.tag.optional()), since('2.42', type.tag.optional())],
});

/** Fields that both notations of disks share. */
const device = {
  virtual_name: z.string().max(255).optional(),
  volume_id: type.uuid.optional(),
  snapshot_id: type.uuid.optional(),
  volume_size: type.lenientInteger(1, MAX_VOLUME_GIB).optional(),
  device_name: z
    .string()
    .min(1)
    .max(255)
    .regex(/^[a-zA-Z0-9._/-]*$/)
    .optional(),
  delete_on_termination: type.lenientBoolean.optional(),
  no_device: z.unknown().optional(),
  connection_info: z.string().max(16_777_215).optional(),
} as const;

const legacyDevice = object(device);

const shortText = z.string().max(255).optional();

const fullDevice = object({
  ...device,
  source_type: z.enum(['volume', 'image', 'snapshot', 'blank']).optional(),
  uuid: z
    .string()
    .min(1)
    .max(255)
    .regex(/^[a-zA-Z0-9._-]*$/)
    .optional(),
  image_id: type.uuid.optional(),
  destination_type: z.enum(['local', 'volume']).optional(),
  guest_format: shortText,
  device_type: shortText,
  disk_bus: shortText,
  boot_index: z
    .union([
      z.int(),
      z
        .string()
        .regex(/^-?[0-9]+$/)
        .transform(Number),
    ])
    .nullable()
    .optional(),
  tag: [between('2.32', '2.32', type.tag.optional()), since('2.42', type.tag.optional())],
  volume_type: since('2.67', z.string().max(255).nullable().optional()),
});

const server = object({
  ...fieldsOf('create'),
  flavorRef: z.union([z.string().min(1), z.int().transform(String)]),
  networks: [
    until(
      '2.36',
      derive(network, (item) => item.array().optional()),
    ),
    since(
      '2.37',
      derive(network, (item) => z.union([item.array(), z.enum(['none', 'auto'])])),
    ),
  ],
  block_device_mapping: derive(legacyDevice, (item) => item.array().optional()),
  block_device_mapping_v2: derive(fullDevice, (item) => item.array().optional()),
  return_reservation_id: type.lenientBoolean.optional(),
});

const MAX_LEVELS = 30;

/** Hints that are nested more deeply could not be serialized. */
function isShallow(value: unknown, levels = MAX_LEVELS): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((inner) => isShallow(inner, levels - 1));
}

/** One server or several. */
const servers = z.union([type.uuid, z.array(type.uuid)]);

const hints = object(
  {
    group: [until('2.100', type.uuid.optional()), since('2.101', servers.optional())],
    different_host: servers.optional(),
    same_host: z.union([z.string(), z.array(type.uuid)]).optional(),
    query: z.union([z.string(), z.looseObject({}), z.array(z.unknown())]).optional(),
    target_cell: type.name.optional(),
    different_cell: z.union([z.string(), z.array(z.string())]).optional(),
    build_near_host_ip: type.ip.optional(),
    cidr: z
      .string()
      .regex(/^\/[0-9a-f.:]+$/)
      .optional(),
  },
  {
    extra: 'keep',
    check: (context) => {
      if (isShallow(context.value)) return;
      context.issues.push({ code: 'custom', input: context.value, message: 'The hints are nested too deeply' });
    },
  },
);

const someHints = derive(hints, (given) => given.optional());

/** A request to create servers. */
export const createServerBody = object({
  server,
  'os:scheduler_hints': someHints,
  'OS-SCH-HNT:scheduler_hints': someHints,
});

export type CreateServerBody = Infer<typeof createServerBody>;
