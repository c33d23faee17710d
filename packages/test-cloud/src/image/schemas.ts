type Schema = Readonly<Record<string, unknown>>;

export const DISK_FORMATS = [
  'ami',
  'ari',
  'aki',
  'vhd',
  'vhdx',
  'vmdk',
  'raw',
  'qcow2',
  'vdi',
  'iso',
  'ploop',
] as const;
export const CONTAINER_FORMATS = ['ami', 'ari', 'aki', 'bare', 'ovf', 'ova', 'docker', 'compressed'] as const;

const UUID = '^([0-9a-fA-F]){8}-([0-9a-fA-F]){4}-([0-9a-fA-F]){4}-([0-9a-fA-F]){4}-([0-9a-fA-F]){12}$';
const STATUSES = [
  'queued',
  'saving',
  'active',
  'killed',
  'deleted',
  'uploading',
  'importing',
  'pending_delete',
  'deactivated',
];

const schemaOf = (type: string | readonly string[], description: string, more: Schema = {}): Schema => ({
  type,
  description,
  ...more,
});
const text = (description: string, more?: Schema) => schemaOf('string', description, more);
const textOrNull = (description: string, maxLength: number, more: Schema = {}) =>
  schemaOf(['null', 'string'], description, { maxLength, ...more });
const readOnly = { readOnly: true } as const;

/** Returns the image schema: every attribute, and whether clients can set it. */
const image = (): Schema => ({
  name: 'image',
  properties: {
    id: text('Identifies the image', { pattern: UUID }),
    name: textOrNull('Name of the image', 255),
    status: text('State of the image', { ...readOnly, enum: STATUSES }),
    visibility: text('Visibility of the image', { enum: ['community', 'public', 'private', 'shared'] }),
    protected: schemaOf('boolean', 'Whether the image is protected from deletion'),
    os_hidden: schemaOf('boolean', 'Whether lists without the filter os_hidden exclude the image'),
    checksum: textOrNull('MD5 of the content', 32, readOnly),
    os_hash_algo: textOrNull('Algorithm of os_hash_value', 64, readOnly),
    os_hash_value: textOrNull('Hash of the content, in hexadecimal digits', 128, readOnly),
    owner: textOrNull('Project that owns the image', 255),
    size: schemaOf(['null', 'integer'], 'Size of the content, in bytes', readOnly),
    virtual_size: schemaOf(['null', 'integer'], 'Virtual size of the disk, in bytes', readOnly),
    container_format: schemaOf(['null', 'string'], 'Format of the container', { enum: [null, ...CONTAINER_FORMATS] }),
    disk_format: schemaOf(['null', 'string'], 'Format of the disk', { enum: [null, ...DISK_FORMATS] }),
    created_at: text('When the image was created', readOnly),
    updated_at: text('When the image was last updated', readOnly),
    tags: schemaOf('array', 'Tags of the image', { items: { type: 'string', maxLength: 255 } }),
    direct_url: text('Location of the content in a store', readOnly),
    min_ram: schemaOf('integer', 'Minimum memory of a server, in MiB'),
    min_disk: schemaOf('integer', 'Minimum disk of a server, in GiB'),
    self: text('Path of the image', readOnly),
    file: text('Path of the content', readOnly),
    stores: text('Stores that have the content', readOnly),
    schema: text('Path of this schema', readOnly),
    locations: schemaOf('array', 'Locations of the content in stores', {
      items: {
        type: 'object',
        properties: { url: { type: 'string', maxLength: 255 }, metadata: { type: 'object' } },
        required: ['url', 'metadata'],
      },
    }),
  },
  additionalProperties: { type: 'string' },
  links: [
    { rel: 'self', href: '{self}' },
    { rel: 'enclosure', href: '{file}' },
    { rel: 'describedby', href: '{schema}' },
  ],
});

const member = (): Schema => ({
  name: 'member',
  properties: {
    member_id: text('Project that the image is shared with'),
    image_id: text('The image', { pattern: UUID }),
    created_at: text('When the image was shared'),
    updated_at: text('When the membership was last updated'),
    status: text('Status of the membership', { enum: ['pending', 'accepted', 'rejected'] }),
    schema: { readOnly: true, type: 'string' },
  },
});

const task = (): Schema => ({
  name: 'task',
  properties: {
    id: text('Identifies the task', { pattern: UUID }),
    type: text('Type of the task', { enum: ['import', 'api_image_import', 'location_import'] }),
    status: text('Status of the task', { enum: ['pending', 'processing', 'success', 'failure'] }),
    input: schemaOf(['null', 'object'], 'Input of the task'),
    result: schemaOf(['null', 'object'], 'Result of the task'),
    owner: text('Project that owns the task'),
    message: text('Message of the task'),
    image_id: text('Image of the task'),
    request_id: text('Request that created the task'),
    user_id: text('User who created the task'),
    expires_at: text('When the task expires'),
    created_at: text('When the task was created'),
    updated_at: text('When the task was last updated'),
    self: { readOnly: true, type: 'string' },
    schema: { readOnly: true, type: 'string' },
  },
});

/** Returns the schema of a list page. */
const pagesOf = (many: string, one: () => Schema): Schema => ({
  name: many,
  properties: {
    [many]: { type: 'array', items: one() },
    first: { type: 'string' },
    next: { type: 'string' },
    schema: { type: 'string' },
  },
  links: [
    { rel: 'first', href: '{first}' },
    { rel: 'next', href: '{next}' },
    { rel: 'describedby', href: '{schema}' },
  ],
});

/** Returns the schema of definitions with names, titles and descriptions. */
const described = (name: string, more: readonly string[]) => (): Schema => ({
  name,
  properties: Object.fromEntries(
    ['name', 'title', 'description', 'created_at', 'updated_at', 'self', 'schema', ...more].map((key) => [
      key,
      { type: 'string' },
    ]),
  ),
  required: ['name'],
  additionalProperties: false,
});

/**
 * The path of a single resource, the path of the list, the fields, and the name of a single resource if it differs from
 * the path.
 */
const METADEFS: readonly (readonly [string, string, readonly string[], string?])[] = [
  ['namespace', 'namespaces', ['namespace', 'display_name', 'visibility', 'protected', 'owner']],
  ['resource_type', 'resource_types', ['prefix', 'properties_target'], 'resource_type_association'],
  ['property', 'properties', ['type', 'operators']],
  ['object', 'objects', ['properties']],
  ['tag', 'tags', []],
];

/** All schemas, by their path below `/v2/schemas/`. Each is created on demand. */
export const SCHEMAS: Readonly<Record<string, () => Schema>> = {
  image,
  images: () => pagesOf('images', image),
  member,
  members: () => ({
    name: 'members',
    properties: { members: { type: 'array', items: member() }, schema: { type: 'string' } },
    links: [{ rel: 'describedby', href: '{schema}' }],
  }),
  task,
  tasks: () => pagesOf('tasks', task),
  ...Object.fromEntries(
    METADEFS.flatMap(([one, many, more, name = one]) => [
      [`metadefs/${one}`, described(name, more)],
      [`metadefs/${many}`, () => pagesOf(name === one ? many : `${name}s`, described(name, more))],
    ]),
  ),
};
