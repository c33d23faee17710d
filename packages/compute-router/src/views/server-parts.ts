import { createHash } from 'node:crypto';
import type { BlockDevice, FlavorCopy, Server } from '@apistrata/compute-engine';
import { since, until } from '@apistrata/microversion';
import { view } from '@apistrata/microversion-router';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { ComputeCall } from '../http/call.js';
import { commonTexts } from '../reference/common-texts.js';
import * as type from '../schemas/reply-types.js';
import { field, flag, integer, text } from './fields.js';
import { shownImageProperties } from './image-properties.js';
import { bookmarkTo } from './links.js';

/** OpenAPI descriptions that several fields share. */
const serverPartsTexts = {
  imageReferenceField: 'Image from which the server was created, or an empty string if the root disk is a volume.',
} as const;

/** Which restricted server fields the policy allows the caller to see. */
interface ViewPermissions {
  readonly attributes: boolean;
  readonly hostStatus: boolean;
  readonly unknownHostStatus: boolean;
  readonly extraSpecs: boolean;
}

const permissionsByCall = new WeakMap<ComputeCall, ViewPermissions>();

/** Returns which restricted fields the caller can see. The policies are checked only once per request. */
export function viewPermissionsOf(call: ComputeCall): ViewPermissions {
  let permissions = permissionsByCall.get(call);
  if (!permissions) {
    permissions = {
      attributes: call.can('os_compute_api:os-extended-server-attributes'),
      hostStatus: call.can('os_compute_api:servers:show:host_status'),
      unknownHostStatus: call.can('os_compute_api:servers:show:host_status:unknown-only'),
      extraSpecs: call.can('os_compute_api:servers:show:flavor-extra-specs'),
    };
    permissionsByCall.set(call, permissions);
  }
  return permissions;
}

/** Caches opaque host ids, because a page contains many servers, but a project's servers are on few hosts. */
const hostIds = new LRUCache<string, string>({ max: 5000 });

/** Returns the opaque id of a host for a project, or an empty string without a host. */
export function hostIdOf(projectId: string, host: string | null): string {
  if (!host) return '';
  const key = projectId + host;
  let id = hostIds.get(key);
  if (id === undefined) hostIds.set(key, (id = createHash('sha224').update(key).digest('hex')));
  return id;
}

export const addressSchema = z.strictObject({
  version: z.union([z.literal(4), z.literal(6)]).describe('IP version: 4 or 6.'),
  addr: z.string().describe('The IP address.'),
  'OS-EXT-IPS:type': z
    .enum(['fixed', 'floating'])
    .describe('`fixed` for an address of a port, `floating` for a floating IP address associated with it.'),
  'OS-EXT-IPS-MAC:mac_addr': z.string().describe('MAC address of the port.'),
});
export const plainAddressSchema = addressSchema.omit({ 'OS-EXT-IPS:type': true, 'OS-EXT-IPS-MAC:mac_addr': true });

export const addressesText = 'IP addresses by network label.';

export const addressesSchema = z.record(z.string(), z.array(addressSchema));
export const plainAddressesSchema = z.record(z.string(), z.array(plainAddressSchema));

type Addresses = z.infer<typeof addressesSchema>;

/**
 * Returns a server's fixed and floating IP addresses, in this order, by network label. Returns an empty object while
 * the server is being built.
 */
export function addressesOf(server: Server): Addresses {
  const shown: Addresses = {};
  if (server.vmState === 'building') return shown;
  for (const kind of ['fixed', 'floating'] as const) {
    for (const { label, mac, fixedIps } of server.interfaces) {
      if (label === '') continue;
      shown[label] ??= [];
      for (const { address: fixed, version, floating } of fixedIps) {
        const list =
          kind === 'fixed' ? [{ addr: fixed, version }] : floating.map((addr) => ({ addr, version: 4 as const }));
        for (const entry of list) {
          shown[label].push({ ...entry, 'OS-EXT-IPS:type': kind, 'OS-EXT-IPS-MAC:mac_addr': mac });
        }
      }
    }
  }
  return shown;
}

/** Returns a server's IP addresses by network label, without type and MAC address. */
export function plainAddressesOf(server: Server): z.infer<typeof plainAddressesSchema> {
  const entries = Object.entries(addressesOf(server));
  return Object.fromEntries(
    entries.map(([label, list]) => [label, list.map(({ addr, version }) => ({ version, addr }))]),
  );
}

/**
 * The flavor in a server's representation. Until 2.46, a link to the flavor; since 2.47, the copy that the server
 * record contains.
 */
export const embeddedFlavor = view<FlavorCopy, ComputeCall>({
  id: until(
    '2.46',
    text('ID of the flavor.', (f) => f.id),
  ),
  links: until(
    '2.46',
    bookmarkTo('flavors', (f: FlavorCopy) => f.id),
  ),
  vcpus: since(
    '2.47',
    integer('Number of virtual CPUs.', (f) => f.vcpus),
  ),
  ram: since(
    '2.47',
    integer('Memory, in MiB.', (f) => f.memoryMb),
  ),
  disk: since(
    '2.47',
    integer('Size of the root disk, in GiB.', (f) => f.diskGb),
  ),
  ephemeral: since(
    '2.47',
    integer('Size of the ephemeral disk, in GiB.', (f) => f.ephemeralGb),
  ),
  swap: since(
    '2.47',
    integer('Size of the swap disk, in MiB. 0 means that there is no swap disk.', (f) => f.swapMb),
  ),
  original_name: since(
    '2.47',
    text('Name of the flavor.', (f) => f.name),
  ),
  extra_specs: since(
    '2.47',
    field(
      'Extra specs of the flavor. Present only if the policy allows the caller to read them.',
      type.textMap.optional(),
      (f, call) => (viewPermissionsOf(call).extraSpecs ? f.extraSpecs : undefined),
    ),
  ),
});

const imageReference = z.strictObject({
  id: z.string().describe('UUID of the image.'),
  links: type.links.describe(commonTexts.links),
});
const imageWithProperties = imageReference.extend({
  properties: z
    .record(z.string(), z.string().nullable())
    .describe('Properties of the image at the time when the server was created or rebuilt.'),
});

function imageOf(server: Server, call: ComputeCall) {
  return { id: server.imageId, links: [call.bookmarkLink(`/images/${server.imageId}`)] as never };
}

/**
 * The image in a server's representation, without image properties. An empty string for servers that boot from a
 * volume.
 */
export const imageReferenceField = field(
  serverPartsTexts.imageReferenceField,
  z.union([z.literal(''), imageReference]),
  (s: Server, call: ComputeCall) => (s.imageId ? imageOf(s, call) : ''),
);

/** The image in a server's representation. Since 2.98, with image properties. */
export const imageField = [
  until('2.97', imageReferenceField),
  since(
    '2.98',
    field(
      serverPartsTexts.imageReferenceField,
      z.union([z.literal(''), imageWithProperties]),
      (s: Server, call: ComputeCall) =>
        s.imageId ? { ...imageOf(s, call), properties: shownImageProperties(s.imageProperties) } : '',
    ),
  ),
] as const;

type Volume = BlockDevice & { readonly volumeId: string };

/** Returns the volumes that are attached to a server. */
export function volumesOf(server: Server): readonly Volume[] {
  return server.blockDevices.filter(
    (device): device is Volume => device.destination === 'volume' && device.volumeId !== null,
  );
}

export const attachedVolume = view<Volume, ComputeCall>({
  id: text('UUID of a volume.', (v) => v.volumeId),
  delete_on_termination: since(
    '2.3',
    flag('Whether the volume is deleted when the server is deleted.', (v) => v.deleteOnTermination),
  ),
});

export const faultSchema = z.strictObject({
  code: z.int().describe('HTTP status code that corresponds to the error.'),
  created: type.serverTime.describe('Time of the error, in UTC with second precision.'),
  message: z.string().describe('Error message.'),
  details: z.string().optional().describe('Traceback of the error. If `code` is 500, only administrators see it.'),
});

/**
 * Returns a server's recorded fault if its status is ERROR or DELETED. Only administrators see the details of an
 * unexpected fault (500).
 */
export function faultOf(server: Server, status: string, isAdmin: boolean): z.infer<typeof faultSchema> | undefined {
  const { fault: recordedFault } = server;
  if (!recordedFault || (status !== 'ERROR' && status !== 'DELETED')) return undefined;
  const { code, message, details, createdAt } = recordedFault;
  const shown = details && (isAdmin || code !== 500) ? details : undefined;
  return { code, created: type.formatServerTime(createdAt), message, ...(shown && { details: shown }) };
}

export const securityGroups = z.array(z.strictObject({ name: z.string().describe('Name of a security group.') }));

/** Returns the names of the security groups on all of a server's ports, or undefined if there are none. */
export function securityGroupsOf(server: Server): { name: string }[] | undefined {
  const names = [...new Set(server.interfaces.flatMap(({ securityGroups }) => securityGroups))];
  return names.length > 0 ? names.map((name) => ({ name })) : undefined;
}

/** The field that contains the server group of a server, as a list. */
export const groupsField = since(
  '2.71',
  field(
    'UUIDs of the server groups to which the server belongs: an empty list, or a list with one item.',
    z.array(z.string()).max(1),
    (s: Server) => (s.groupId ? [s.groupId] : []),
  ),
);

/** Returns a server's scheduler hints. Each value is a list of strings. */
export function hintsOf(server: Server): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(server.schedulerHints).map(([key, value]) => [
      key,
      [value].flat().map((item) => (typeof item === 'string' ? item : JSON.stringify(item))),
    ]),
  );
}
