import type { ImageStatus, VolumeStatus } from '@apistrata/catalogs';
import { z } from 'zod';
import type { DriverVerb } from '../drivers/driver.js';

const uuid = z.guid();
const name = z.string().min(1).max(255);
const positive = z.int().positive();
const size = z.int().nonnegative();
const texts = z.record(z.string(), z.string());
const unknown = z.enum(['reject', 'accept']).describe('What happens with ids that nobody knows');
const ratio = z.number().positive();

/** Words that have to be all of a type: one that is missing or misspelt does not compile. */
function wordsOf<T extends string>(words: Readonly<Record<T, true>>) {
  return z.enum(Object.keys(words) as T[]);
}

const imageStatus = wordsOf<ImageStatus>({
  queued: true,
  saving: true,
  uploading: true,
  importing: true,
  active: true,
  deactivated: true,
  killed: true,
  deleted: true,
  pending_delete: true,
});

const volumeStatus = wordsOf<VolumeStatus>({
  creating: true,
  available: true,
  reserved: true,
  attaching: true,
  'in-use': true,
  detaching: true,
  deleting: true,
  downloading: true,
  uploading: true,
  extending: true,
  retyping: true,
  maintenance: true,
  'awaiting-transfer': true,
  'backing-up': true,
  'restoring-backup': true,
  error: true,
  error_deleting: true,
  error_extending: true,
  error_restoring: true,
});

const flavor = z
  .strictObject({
    id: name,
    name,
    vcpus: positive,
    memoryMb: positive,
    diskGb: size,
    ephemeralGb: size.optional(),
    swapMb: size.optional(),
    rxtxFactor: ratio.optional(),
    isPublic: z.boolean().optional(),
    disabled: z.boolean().optional(),
    description: z.string().nullable().optional(),
    extraSpecs: texts.optional(),
    projects: z.array(z.string()).describe('Projects that may use it when it is not public').optional(),
  })
  .describe('A flavor. Memory and swap in MiB, disks in GiB');

const host = z
  .strictObject({
    name,
    zone: name.optional(),
    vcpus: positive,
    memoryMb: positive,
    diskGb: positive,
    hypervisorHostname: z.string().optional(),
    hypervisorType: z.string().describe('Default: QEMU').optional(),
    hypervisorVersion: size.describe('As one number: major * 1,000,000 + minor * 1,000 + micro').optional(),
    cpuAllocationRatio: ratio.describe('How much more than it has may be given away; 16').optional(),
    ramAllocationRatio: ratio.describe('How much more than it has may be given away; 1.5').optional(),
    diskAllocationRatio: ratio.describe('How much more than it has may be given away; 1').optional(),
  })
  .describe('A host, with what it offers. Memory in MiB, disk in GiB');

const aggregate = z
  .strictObject({ name, hosts: z.array(z.string()), metadata: texts.optional() })
  .describe('An aggregate, with the names of its hosts');

const image = z
  .strictObject({
    id: uuid,
    name: z.string().nullable().optional(),
    projectId: z.string().optional(),
    visibility: z.enum(['public', 'private', 'shared', 'community']).optional(),
    status: imageStatus.describe('Default: active').optional(),
    minDiskGb: size.optional(),
    minRamMb: size.optional(),
    diskFormat: z.string().nullable().optional(),
    containerFormat: z.string().nullable().optional(),
    protected: z.boolean().optional(),
    hidden: z.boolean().optional(),
    tags: z.array(z.string()).optional(),
    properties: texts.optional(),
    sizeBytes: size.optional(),
    virtualSizeBytes: size.optional(),
    checksum: z.string().optional(),
    content: z
      .custom<Uint8Array | (() => AsyncIterable<Uint8Array>)>(
        (value) => value instanceof Uint8Array || typeof value === 'function',
        'expected bytes, or a function that gives them',
      )
      .describe('Its bytes; size and checksums follow from them. Not in files')
      .optional(),
  })
  .describe('An image. Sizes in GiB of disk, MiB of memory, and bytes');

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
    mtu: positive.optional(),
    isDefault: z.boolean().optional(),
    portSecurityEnabled: z.boolean().optional(),
    tags: z.array(z.string()).optional(),
    subnets: z.array(subnet).optional(),
  })
  .describe('A network. Without a project it is shared');

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
  extraSpecs: texts.optional(),
});

const volume = z
  .strictObject({
    id: uuid,
    projectId: z.string(),
    userId: z.string().optional(),
    sizeGb: positive,
    name: z.string().nullable().optional(),
    description: z.string().nullable().optional(),
    status: volumeStatus.describe('Default: available').optional(),
    volumeType: z.string().nullable().describe('Name of the type').optional(),
    availabilityZone: z.string().optional(),
    bootable: z.boolean().optional(),
    multiattach: z.boolean().describe('Default: what its type allows').optional(),
    encrypted: z.boolean().optional(),
    imageMetadata: texts.optional(),
    metadata: texts.optional(),
    migrationStatus: z.string().nullable().optional(),
  })
  .describe('A volume. Size in GiB');

const share = z
  .strictObject({
    id: uuid,
    projectId: z.string(),
    name: z.string().nullable().optional(),
    status: z.string().optional(),
    protocol: z.string().describe('NFS or CEPHFS can be attached to a server').optional(),
    sizeGb: positive.optional(),
    exportLocations: z.array(z.string()).describe('Where hosts mount it, the preferred one first').optional(),
  })
  .describe('A shared file system. Size in GiB');

/** Verbs are words of drivers, who may have more of them than this version knows. */
const verb = z.string() as unknown as z.ZodType<DriverVerb, DriverVerb>;

const rule = z
  .strictObject({
    match: z.strictObject({
      verb: z.union([verb, z.array(verb)]).optional(),
      action: z.string().optional(),
      name: z.union([z.string(), z.instanceof(RegExp)]).optional(),
      metadata: texts.optional(),
      flavor: z.string().optional(),
      image: z.string().optional(),
      host: z.string().optional(),
    }),
    fromCall: positive.optional(),
    times: positive.optional(),
    delayMs: size.optional(),
    fail: z.string().optional(),
    hang: z.literal(true).optional(),
  })
  .describe('Scripted behaviour of the simulated machines');

/** What a cloud has before anybody has done anything, in files and in `createEngine({ preset })`. */
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
    .strictObject({ images: unknown, networks: unknown, volumes: unknown, shares: unknown })
    .partial()
    .optional(),
  rules: z.array(rule).optional(),
});
