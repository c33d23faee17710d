import { z } from 'zod';
import type { DriverVerb } from '../drivers/driver.js';
import { CUSTOM_NAME, RESOURCE_CLASSES, TRAITS } from '../resources/extra-specs/standard-names.js';
import { imageStatuses, volumeStatuses } from './statuses.js';

const uuid = z.guid();
const name = z.string().min(1).max(255);
const positiveInteger = z.int().positive();
const size = z.int().nonnegative();
const stringRecord = z.record(z.string(), z.string());
const unknownIds = z.enum(['reject', 'accept']).describe('How catalogs handle unknown ids');
const ratio = z.number().positive();

const flavor = z
  .strictObject({
    id: name,
    name,
    vcpus: positiveInteger,
    memoryMb: positiveInteger,
    diskGb: size,
    ephemeralGb: size.optional(),
    swapMb: size.optional(),
    rxtxFactor: ratio.optional(),
    isPublic: z.boolean().optional(),
    disabled: z.boolean().optional(),
    description: z.string().nullable().optional(),
    extraSpecs: stringRecord.optional(),
    projects: z.array(z.string()).describe('Projects that may use the flavor if it is not public').optional(),
  })
  .describe('A flavor. Memory and swap are in MiB, disks in GiB');

const resourceClass = z
  .string()
  .refine(
    (given) => RESOURCE_CLASSES.has(given) || CUSTOM_NAME.test(given),
    'must be a standard resource class, or start with CUSTOM_',
  );
const trait = z
  .string()
  .refine((given) => TRAITS.has(given) || CUSTOM_NAME.test(given), 'must be a standard trait, or start with CUSTOM_');

const inventory = z
  .strictObject({
    total: positiveInteger,
    reserved: size.describe('The part of the total that servers cannot use. Default: 0').optional(),
    minUnit: positiveInteger.describe('Minimum amount that one server can have. Default: 1').optional(),
    maxUnit: positiveInteger.describe('Maximum amount that one server can have. Default: no limit').optional(),
    stepSize: positiveInteger
      .describe('The amount that one server has must be a multiple of this value. Default: 1')
      .optional(),
    allocationRatio: ratio
      .describe('Capacity that servers can claim, as a multiple of the unreserved total. Default: 1')
      .optional(),
  })
  .describe('The capacity of a host in a resource class');

const host = z
  .strictObject({
    name,
    zone: name.optional(),
    vcpus: positiveInteger,
    memoryMb: positiveInteger,
    diskGb: positiveInteger,
    hypervisorHostname: z.string().optional(),
    address: z
      .union([z.ipv4(), z.ipv6()])
      .describe('Shown to administrators as `host_ip`. Default: an example address')
      .optional(),
    hypervisorType: z.string().describe('Default: QEMU').optional(),
    hypervisorVersion: size.describe('As one number: major * 1,000,000 + minor * 1,000 + micro').optional(),
    cpuAllocationRatio: ratio
      .describe('Capacity that servers can claim, as a multiple of the physical capacity. Default: 16')
      .optional(),
    ramAllocationRatio: ratio
      .describe('Capacity that servers can claim, as a multiple of the physical capacity. Default: 1.5')
      .optional(),
    diskAllocationRatio: ratio
      .describe('Capacity that servers can claim, as a multiple of the physical capacity. Default: 1')
      .optional(),
    inventories: z
      .record(resourceClass, inventory)
      .describe(
        'Inventories by resource class, for `resources:CLASS`. VCPU, MEMORY_MB and DISK_GB replace those derived from other fields',
      )
      .optional(),
    traits: z
      .array(trait)
      .describe('Standard or CUSTOM_ traits, for `trait:NAME`, in addition to the traits of every host')
      .optional(),
    capabilities: z
      .record(name, z.union([z.string(), z.number(), z.boolean(), z.array(z.union([z.string(), z.number()]))]))
      .describe('Values for `capabilities:NAME`, in addition to the values of every host, such as `hypervisor_type`')
      .optional(),
    cpuInfo: z
      .strictObject({
        arch: z.string(),
        model: z.string(),
        vendor: z.string(),
        features: z.array(z.string()),
        topology: z.strictObject({
          cells: positiveInteger.optional(),
          sockets: positiveInteger,
          cores: positiveInteger,
          threads: positiveInteger,
        }),
      })
      .describe(
        'CPU details, shown as `cpu_info` of the hypervisor. Default: reported by the driver, otherwise example values',
      )
      .optional(),
  })
  .describe('A host with its capacity. Memory is in MiB, disk in GiB');

const aggregate = z
  .strictObject({ name, hosts: z.array(z.string()), metadata: stringRecord.optional() })
  .describe('An aggregate, with the names of its hosts');

const image = z
  .strictObject({
    id: uuid,
    name: z.string().nullable().optional(),
    projectId: z.string().optional(),
    visibility: z.enum(['public', 'private', 'shared', 'community']).optional(),
    status: z.enum(imageStatuses).describe('Default: active').optional(),
    minDiskGb: size.optional(),
    minRamMb: size.optional(),
    diskFormat: z.string().nullable().optional(),
    containerFormat: z.string().nullable().optional(),
    protected: z.boolean().optional(),
    hidden: z.boolean().optional(),
    tags: z.array(z.string()).optional(),
    properties: stringRecord.optional(),
    sizeBytes: size.optional(),
    virtualSizeBytes: size.optional(),
    checksum: z.string().optional(),
    replacesIdPrefix: z
      .string()
      .regex(/^[0-9a-f-]{9,}$/)
      .describe('Images whose ids begin with this prefix are earlier versions of this image, and are hidden')
      .optional(),
    content: z
      .custom<Uint8Array | (() => AsyncIterable<Uint8Array>)>(
        (value) => value instanceof Uint8Array || typeof value === 'function',
        'expected bytes, or a function that returns them',
      )
      .describe('The bytes of the image, from which size and checksums are computed. Not supported in preset files')
      .optional(),
  })
  .describe('An image. Minimum disk is in GiB, minimum memory in MiB, sizes in bytes');

const subnet = z.strictObject({
  id: uuid.optional(),
  name: z.string().optional(),
  cidr: z.union([z.cidrv4(), z.cidrv6()]),
  gatewayIp: z.string().nullable().optional(),
  allocationPools: z.array(z.strictObject({ start: z.string(), end: z.string() })).optional(),
  dnsNameservers: z.array(z.string()).optional(),
});

const network = z
  .strictObject({
    id: uuid,
    name: z.string().optional(),
    description: z.string().optional(),
    projectId: z.string().optional(),
    adminStateUp: z.boolean().optional(),
    shared: z.boolean().optional(),
    external: z.boolean().optional(),
    mtu: positiveInteger.optional(),
    isDefault: z.boolean().optional(),
    portSecurityEnabled: z.boolean().optional(),
    tags: z.array(z.string()).optional(),
    subnets: z.array(subnet).optional(),
  })
  .describe('A network. Without a project, it is shared');

const securityRule = z.strictObject({
  direction: z.enum(['ingress', 'egress']),
  ethertype: z.enum(['IPv4', 'IPv6']).optional(),
  protocol: z.string().nullable().optional(),
  portMin: z.int().nullable().optional(),
  portMax: z.int().nullable().optional(),
  remoteCidr: z.string().nullable().optional(),
  remoteGroupId: uuid.nullable().optional(),
  description: z.string().optional(),
});

const securityGroup = z.strictObject({
  id: uuid,
  name: z.string(),
  projectId: z.string(),
  description: z.string().optional(),
  rules: z.array(securityRule).optional(),
});

const volumeType = z.strictObject({
  id: uuid.optional(),
  name: z.string(),
  description: z.string().nullable().optional(),
  isPublic: z.boolean().optional(),
  extraSpecs: stringRecord.optional(),
});

const volume = z
  .strictObject({
    id: uuid,
    projectId: z.string(),
    userId: z.string().optional(),
    sizeGb: positiveInteger,
    name: z.string().nullable().optional(),
    description: z.string().nullable().optional(),
    status: z.enum(volumeStatuses).describe('Default: available').optional(),
    volumeType: z.string().nullable().describe('Name of the volume type').optional(),
    availabilityZone: z.string().optional(),
    bootable: z.boolean().optional(),
    multiattach: z.boolean().describe('Default: true if the volume type allows multiple attachments').optional(),
    encrypted: z.boolean().optional(),
    imageMetadata: stringRecord.optional(),
    metadata: stringRecord.optional(),
    migrationStatus: z.string().nullable().optional(),
  })
  .describe('A volume. Its size is in GiB');

const share = z
  .strictObject({
    id: uuid,
    projectId: z.string(),
    name: z.string().nullable().optional(),
    status: z.string().optional(),
    protocol: z.string().describe('Only shares with NFS or CEPHFS can be attached to a server').optional(),
    sizeGb: positiveInteger.optional(),
    exportLocations: z
      .array(z.string())
      .describe('Paths from which hosts mount the share, the preferred one first')
      .optional(),
  })
  .describe('A shared file system. Its size is in GiB');

/** Drivers may define additional verbs. */
const driverVerb = z.string() as unknown as z.ZodType<DriverVerb, DriverVerb>;

const rule = z
  .strictObject({
    match: z.strictObject({
      verb: z.union([driverVerb, z.array(driverVerb)]).optional(),
      action: z.string().optional(),
      name: z.union([z.string(), z.instanceof(RegExp)]).optional(),
      metadata: stringRecord.optional(),
      flavor: z.string().optional(),
      image: z.string().optional(),
      host: z.string().optional(),
    }),
    fromCall: positiveInteger.optional(),
    times: positiveInteger.optional(),
    delayMs: size.optional(),
    fail: z.string().optional(),
    hang: z.literal(true).optional(),
  })
  .describe('Scripted behavior of the simulated machines');

/** Schema of the initial content of a cloud, for files and `createEngine({ preset })`. */
export const presetSchema = z.strictObject({
  flavors: z.array(flavor).optional(),
  hosts: z.array(host).optional(),
  aggregates: z.array(aggregate).optional(),
  images: z.array(image).optional(),
  networks: z.array(network).optional(),
  securityGroups: z.array(securityGroup).optional(),
  volumeTypes: z.array(volumeType).optional(),
  volumes: z.array(volume).optional(),
  shares: z.array(share).optional(),
  unknown: z
    .strictObject({ images: unknownIds, networks: unknownIds, volumes: unknownIds, shares: unknownIds })
    .partial()
    .optional(),
  rules: z.array(rule).optional(),
});
