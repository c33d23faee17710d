import { readFileSync } from 'node:fs';
import type { Preset } from '@apistrata/compute-engine';
import { z } from 'zod';
import { StartError } from './start-error.js';

const uuid = z.uuid();
const positive = z.int().positive();
const size = z.int().nonnegative();
const texts = z.record(z.string(), z.string());
const unknown = z.enum(['reject', 'accept']);
const ratio = z.number().positive();

const flavor = z.strictObject({
  id: z.string().min(1).max(255),
  name: z.string().min(1).max(255),
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
  projects: z.array(z.string()).optional(),
});

const host = z.strictObject({
  name: z.string().min(1).max(255),
  zone: z.string().min(1).optional(),
  vcpus: positive,
  memoryMb: positive,
  diskGb: positive,
  hypervisorHostname: z.string().optional(),
  cpuAllocationRatio: ratio.optional(),
  ramAllocationRatio: ratio.optional(),
  diskAllocationRatio: ratio.optional(),
});

const aggregate = z.strictObject({ name: z.string().min(1), hosts: z.array(z.string()), metadata: texts.optional() });

const image = z.strictObject({
  id: uuid,
  name: z.string().optional(),
  projectId: z.string().optional(),
  visibility: z.enum(['public', 'private', 'shared', 'community']).optional(),
  minDiskGb: size.optional(),
  minRamMb: size.optional(),
  diskFormat: z.string().optional(),
  containerFormat: z.string().optional(),
  tags: z.array(z.string()).optional(),
  properties: texts.optional(),
});

const subnet = z.strictObject({
  id: uuid.optional(),
  name: z.string().optional(),
  cidr: z.union([z.cidrv4(), z.cidrv6()]),
  gatewayIp: z.string().nullable().optional(),
  allocationPools: z.array(z.strictObject({ start: z.string(), end: z.string() })).optional(),
  dnsNameservers: z.array(z.string()).optional(),
});

const network = z.strictObject({
  id: uuid,
  name: z.string(),
  projectId: z.string().optional(),
  external: z.boolean().optional(),
  shared: z.boolean().optional(),
  subnets: z.array(subnet).optional(),
});

const securityRule = z.strictObject({
  direction: z.enum(['ingress', 'egress']),
  ethertype: z.enum(['IPv4', 'IPv6']).optional(),
  protocol: z.string().nullable().optional(),
  portMin: z.int().nullable().optional(),
  portMax: z.int().nullable().optional(),
  remoteCidr: z.string().nullable().optional(),
  description: z.string().optional(),
});

const securityGroup = z.strictObject({
  id: uuid,
  name: z.string(),
  projectId: z.string(),
  description: z.string().optional(),
  rules: z.array(securityRule).optional(),
});

const volume = z.strictObject({
  id: uuid,
  projectId: z.string(),
  sizeGb: positive,
  name: z.string().optional(),
  volumeType: z.string().optional(),
  bootable: z.boolean().optional(),
});

const rule = z.strictObject({
  match: z.strictObject({
    verb: z.union([z.string(), z.array(z.string())]).optional(),
    name: z.string().optional(),
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
});

const preset = z.strictObject({
  flavors: z.array(flavor).optional(),
  hosts: z.array(host).optional(),
  aggregates: z.array(aggregate).optional(),
  images: z.array(image).optional(),
  networks: z.array(network).optional(),
  securityGroups: z.array(securityGroup).optional(),
  volumeTypes: z
    .array(z.strictObject({ id: uuid.optional(), name: z.string(), extraSpecs: texts.optional() }))
    .optional(),
  volumes: z.array(volume).optional(),
  shares: z.array(z.looseObject({ id: uuid, projectId: z.string() })).optional(),
  unknown: z
    .strictObject({ images: unknown, networks: unknown, volumes: unknown, shares: unknown })
    .partial()
    .optional(),
  rules: z.array(rule).optional(),
});

/** Reads a JSON file; throws {@link StartError} that names the file and what is wrong with it. */
export function readJson(option: string, file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new StartError(`--${option} ${file}: ${(error as Error).message}`);
  }
}

/** Reads a preset; throws {@link StartError} with the path of the first fault. */
export function readPreset(file: string): Preset {
  const checked = preset.safeParse(readJson('preset', file));
  if (checked.success) return checked.data as Preset;
  const { path, message } = checked.error.issues[0]!;
  throw new StartError(`--preset ${file}: ${path.join('.') || 'the file'}: ${message}`);
}
