import { z } from 'zod';

const text = z.string().max(255).nullish();
const metadata = z.record(z.string(), z.string()).nullish();
const size = z.union([z.number().int(), z.string().regex(/^\d+$/).transform(Number)]);

export const CreateVolume = z.object({
  volume: z.object({
    size: size.nullish(),
    name: text,
    description: text,
    volume_type: text,
    availability_zone: text,
    imageRef: text,
    snapshot_id: text,
    source_volid: text,
    metadata,
  }),
});

/** Names come in the spelling of version 1 too: command-line clients still write it. */
const change = z
  .object({ name: text, description: text, display_name: text, display_description: text, metadata })
  .transform(({ name, description, display_name, display_description, metadata: items }) => ({
    name: name ?? display_name,
    description: description ?? display_description,
    metadata: items ?? undefined,
  }));

export const UpdateVolume = z.object({ volume: change });
export const UpdateSnapshot = z.object({ snapshot: change });

export const CreateSnapshot = z.object({
  snapshot: z.object({
    volume_id: z.string(),
    name: text,
    description: text,
    force: z.union([z.boolean(), z.string().transform((word) => word.toLowerCase() === 'true')]).nullish(),
    metadata,
  }),
});

export const Metadata = z.object({ metadata: z.record(z.string(), z.string()) });

const type = { name: z.string().min(1).max(255), description: text };
export const CreateType = z.object({
  volume_type: z.object({
    ...type,
    'os-volume-type-access:is_public': z.boolean().optional(),
    extra_specs: z.record(z.string(), z.string()).optional(),
  }),
});
export const UpdateType = z.object({
  volume_type: z.object({ name: type.name.nullish(), description: text, is_public: z.boolean().nullish() }),
});
export const ExtraSpecs = z.object({ extra_specs: z.record(z.string(), z.string()) });

export const CreateAttachment = z.object({
  attachment: z.object({
    volume_uuid: z.string(),
    instance_uuid: z.string().nullish(),
    connector: z.record(z.string(), z.unknown()).nullish(),
    mode: z.enum(['rw', 'ro']).nullish(),
  }),
});
export const UpdateAttachment = z.object({ attachment: z.object({ connector: z.record(z.string(), z.unknown()) }) });

/** The bodies of actions on a volume: their only key names them. */
export const actions = {
  'os-extend': z.object({ new_size: size }),
  'os-set_bootable': z.object({
    bootable: z.union([z.boolean(), z.string().transform((word) => word.toLowerCase() === 'true')]),
  }),
  'os-reset_status': z.object({ status: z.string().nullish(), migration_status: z.string().nullish() }),
  'os-set_image_metadata': Metadata,
  'os-unset_image_metadata': z.object({ key: z.string() }),
  'os-update_readonly_flag': z.object({ readonly: z.unknown() }),
  'os-retype': z.object({ new_type: z.string(), migration_policy: z.string().optional() }),
  'os-attach': z.object({
    instance_uuid: z.string().nullish(),
    mountpoint: z.string().nullish(),
    host_name: z.string().nullish(),
  }),
  'os-detach': z.object({ attachment_id: z.string().nullish() }).nullish(),
  'os-reserve': z.unknown(),
  'os-unreserve': z.unknown(),
  'os-begin_detaching': z.unknown(),
  'os-roll_detaching': z.unknown(),
  'os-force_delete': z.unknown(),
  'os-volume_upload_image': z.object({
    image_name: z.string(),
    disk_format: z.string().optional(),
    container_format: z.string().optional(),
    visibility: z.enum(['public', 'private', 'shared', 'community']).optional(),
    force: z.unknown().optional(),
  }),
} as const;

export type ActionName = keyof typeof actions;
