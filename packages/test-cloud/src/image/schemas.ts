import { METADEF_SCHEMAS, type MetadefKind, propertyInMap } from './metadef-schemas.js';
import type { Schema } from './schema-check.js';

const DISK_FORMATS = ['ami', 'ari', 'aki', 'vhd', 'vhdx', 'vmdk', 'raw', 'qcow2', 'vdi', 'iso', 'ploop'];
const CONTAINER_FORMATS = ['ami', 'ari', 'aki', 'bare', 'ovf', 'ova', 'docker', 'compressed'];
const STATUSES = 'queued saving active killed deleted uploading importing pending_delete deactivated'.split(' ');
const UUID = '^([0-9a-fA-F]){8}-([0-9a-fA-F]){4}-([0-9a-fA-F]){4}-([0-9a-fA-F]){4}-([0-9a-fA-F]){12}$';

const objectSchema = (type: string | readonly string[], description: string, more: Schema = {}): Schema => ({
  type,
  description,
  ...more,
});
const text = (description: string, more?: Schema) => objectSchema('string', description, more);
const textOrNull = (description: string, more?: Schema) => objectSchema(['null', 'string'], description, more);
const customProperty = (schema: Schema) => ({ ...schema, is_base: false });
const readOnly = { readOnly: true } as const;
const hashes = (more: Schema = {}): Readonly<Record<string, Schema>> => ({
  os_hash_algo: { type: 'string', maxLength: 64, ...more },
  os_hash_value: { type: 'string', maxLength: 128 },
});

/** The schema of an image: all attributes, and which of them clients can set. */
export const IMAGE: Schema = {
  name: 'image',
  properties: {
    id: text('Identifies the image', { pattern: UUID }),
    name: textOrNull('Name of the image', { maxLength: 255 }),
    status: text('State of the image', { ...readOnly, enum: STATUSES }),
    visibility: text('Visibility of the image', { enum: ['community', 'public', 'private', 'shared'] }),
    protected: objectSchema('boolean', 'Whether the image is protected from deletion'),
    os_hidden: objectSchema('boolean', 'Whether lists without the filter os_hidden exclude the image'),
    checksum: textOrNull('MD5 of the content', { ...readOnly, maxLength: 32 }),
    os_hash_algo: textOrNull('Algorithm of os_hash_value', { ...readOnly, maxLength: 64 }),
    os_hash_value: textOrNull('Hash of the content, in hexadecimal digits', { ...readOnly, maxLength: 128 }),
    owner: textOrNull('Project that owns the image', { maxLength: 255 }),
    size: objectSchema(['null', 'integer'], 'Size of the content, in bytes', readOnly),
    virtual_size: objectSchema(['null', 'integer'], 'Virtual size of the disk, in bytes', readOnly),
    container_format: textOrNull('Format of the container', { enum: [null, ...CONTAINER_FORMATS] }),
    disk_format: textOrNull('Format of the disk', { enum: [null, ...DISK_FORMATS] }),
    created_at: text('When the image was created', readOnly),
    updated_at: text('When the image was last updated', readOnly),
    tags: objectSchema('array', 'Tags of the image', { items: { type: 'string', maxLength: 255 } }),
    direct_url: text('Location of the content in a store', readOnly),
    min_ram: objectSchema('integer', 'Minimum memory of a server, in MiB'),
    min_disk: objectSchema('integer', 'Minimum disk of a server, in GiB'),
    self: text('Path of the image', readOnly),
    file: text('Path of the content', readOnly),
    stores: text('Stores that have the content', readOnly),
    schema: text('Path of this schema', readOnly),
    locations: objectSchema('array', 'Locations of the content in stores', {
      items: {
        type: 'object',
        properties: {
          url: { type: 'string', maxLength: 255 },
          metadata: { type: 'object' },
          validation_data: {
            type: 'object',
            writeOnly: true,
            additionalProperties: false,
            properties: { checksum: { type: 'string', minLength: 32, maxLength: 32 }, ...hashes() },
            required: ['os_hash_algo', 'os_hash_value'],
          },
        },
        required: ['url', 'metadata'],
      },
    }),
    kernel_id: customProperty({ type: ['null', 'string'], pattern: UUID }),
    ramdisk_id: customProperty({ type: ['null', 'string'], pattern: UUID }),
    ...Object.fromEntries(
      ['instance_uuid', 'architecture', 'os_distro', 'os_version', 'description', 'cinder_encryption_key_id'].map(
        (key) => [key, customProperty({ type: 'string' })],
      ),
    ),
    cinder_encryption_key_deletion_policy: customProperty({
      type: 'string',
      enum: ['on_image_deletion', 'do_not_delete'],
    }),
  },
  additionalProperties: { type: 'string' },
  links: [
    { rel: 'self', href: '{self}' },
    { rel: 'enclosure', href: '{file}' },
    { rel: 'describedby', href: '{schema}' },
  ],
};

/** The schema of a request that adds a location to an image. */
export const LOCATION: Schema = {
  name: 'location',
  properties: {
    url: { type: 'string' },
    validation_data: {
      type: 'object',
      additionalProperties: false,
      properties: hashes({ enum: ['sha1', 'sha256', 'sha512', 'md5'] }),
    },
  },
  required: ['url'],
};

const MEMBER: Schema = {
  name: 'member',
  properties: {
    member_id: text('Project that the image is shared with'),
    image_id: text('The image', { pattern: UUID }),
    created_at: text('When the image was shared'),
    updated_at: text('When the membership was last updated'),
    status: text('Status of the membership', { enum: ['pending', 'accepted', 'rejected'] }),
    schema: { ...readOnly, type: 'string' },
  },
};

export const TASK: Schema = {
  name: 'task',
  properties: {
    id: text('Identifies the task', { pattern: UUID }),
    type: text('Type of the task', { enum: ['import', 'api_image_import', 'location_import'] }),
    status: text('Status of the task', { enum: ['pending', 'processing', 'success', 'failure'] }),
    input: objectSchema(['null', 'object'], 'Input of the task'),
    result: objectSchema(['null', 'object'], 'Result of the task'),
    owner: text('Project that owns the task'),
    message: text('Message of the task'),
    image_id: text('Image of the task'),
    request_id: text('Request that created the task'),
    user_id: text('User who created the task'),
    expires_at: textOrNull('When the task expires'),
    created_at: text('When the task was created'),
    updated_at: text('When the task was last updated'),
    self: { ...readOnly, type: 'string' },
    schema: { ...readOnly, type: 'string' },
  },
};

/** The task fields that list responses omit. */
export const TASK_DETAIL_FIELDS = ['input', 'result', 'message'];

const link = (rel: string, key: string) => ({ rel, href: `{${key}}` });

/** Returns the schema of a list that is not divided into pages. */
const listSchema = (many: string, items: Schema): Schema => ({
  name: many,
  properties: { [many]: { type: 'array', items }, schema: { type: 'string' } },
  links: [link('describedby', 'schema')],
});

/** Returns the schema of a list page. The document also contains the definitions to which the item schemas refer. */
function pageSchema(many: string, { definitions, ...items }: Schema, isMap = false): Schema {
  return {
    name: many,
    properties: {
      [many]: isMap ? { type: 'object', additionalProperties: items } : { type: 'array', items },
      first: { type: 'string' },
      next: { type: 'string' },
      schema: { type: 'string' },
    },
    links: [link('first', 'first'), link('next', 'next'), link('describedby', 'schema')],
    ...(definitions && { definitions }),
  };
}

const metadef = (one: string, kind: MetadefKind): Readonly<Record<string, () => Schema>> => ({
  [`metadefs/${one}`]: () => METADEF_SCHEMAS[kind],
  [`metadefs/${kind}`]: () => pageSchema(kind, METADEF_SCHEMAS[kind]),
});

/** All schemas, by path below `/v2/schemas/`. List schemas are created on demand. */
export const SCHEMAS: Readonly<Record<string, () => Schema>> = {
  image: () => IMAGE,
  images: () => pageSchema('images', IMAGE),
  member: () => MEMBER,
  members: () => listSchema('members', MEMBER),
  task: () => TASK,
  tasks: () =>
    listSchema('tasks', {
      ...TASK,
      properties: Object.fromEntries(
        Object.entries(TASK.properties ?? {}).filter(([key]) => !TASK_DETAIL_FIELDS.includes(key)),
      ),
    }),
  ...metadef('namespace', 'namespaces'),
  ...metadef('object', 'objects'),
  ...metadef('tag', 'tags'),
  ...metadef('resource_type', 'resource_types'),
  'metadefs/resource_types': () => pageSchema('resource_type_associations', METADEF_SCHEMAS.resource_types),
  ...metadef('property', 'properties'),
  'metadefs/properties': () => pageSchema('properties', propertyInMap, true),
};
