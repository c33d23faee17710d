import { createHash } from 'node:crypto';
import type { BlockDevice, FlavorCopy, Server } from '@apistrata/compute-engine';
import { since, until } from '@apistrata/microversion';
import { view } from '@apistrata/microversion/router';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { ComputeCall } from '../http/call.js';
import { commonTexts } from '../reference/common-texts.js';
import * as type from '../schemas/reply-types.js';
import { field, flag, integer, text } from './fields.js';
import { shownImageProperties } from './image-properties.js';
import { bookmarkTo } from './links.js';

/** Descriptions of fields that occur in several places. */
const serverPartsTexts = {
  imageReferenceField: 'Image from which the server was created. An empty string if the root disk is a volume.',
} as const;

/** The fields of servers that a caller may see in addition to the common ones. */
interface ViewPermissions {
  readonly attributes: boolean;
  readonly hostStatus: boolean;
  readonly unknownHostStatus: boolean;
  readonly extraSpecs: boolean;
}

const permissionsByCall = new WeakMap<ComputeCall, ViewPermissions>();

/** Returns the permissions of a call. The policies are checked once per call. */
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

/** Cached because a page contains many servers, and the servers of a project are on few hosts. */
const hostIds = new LRUCache<string, string>({ max: 5000 });

/** Returns an opaque id of a host for a project; '' without a host. */
export function hostIdOf(projectId: string, host: string | null): string {
  if (!host) return '';
  const key = projectId + host;
  let id = hostIds.get(key);
  if (id === undefined) hostIds.set(key, (id = createHash('sha224').update(key).digest('hex')));
  return id;
}

export const address = z.strictObject({
  version: z.union([z.literal(4), z.literal(6)]).describe('IP version: 4 or 6.'),
  addr: z.string().describe('The IP address.'),
  'OS-EXT-IPS:type': z
    .enum(['fixed', 'floating'])
    .describe('`fixed` for an address of a port, `floating` for an associated floating IP address.'),
  'OS-EXT-IPS-MAC:mac_addr': z.string().describe('MAC address of the port.'),
});
export const plainAddress = address.omit({ 'OS-EXT-IPS:type': true, 'OS-EXT-IPS-MAC:mac_addr': true });

export const addressesText = 'IP addresses by network label.';

export const addresses = z.record(z.string(), z.array(address));
export const plainAddresses = z.record(z.string(), z.array(plainAddress));

type Addresses = z.infer<typeof addresses>;

/** Returns addresses by network label: fixed ones, then floating ones. Empty while the server is being built. */
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

/** Returns addresses without the attributes of extensions. */
export function plainAddressesOf(server: Server): z.infer<typeof plainAddresses> {
  const entries = Object.entries(addressesOf(server));
  return Object.fromEntries(
    entries.map(([label, list]) => [label, list.map(({ addr, version }) => ({ version, addr }))]),
  );
}

/** The flavor of a server: until 2.46 a reference, since 2.47 the copy in the server's record. */
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
    integer('Root disk, in GiB.', (f) => f.diskGb),
  ),
  ephemeral: since(
    '2.47',
    integer('Ephemeral disk, in GiB.', (f) => f.ephemeralGb),
  ),
  swap: since(
    '2.47',
    integer('Swap disk, in MiB. 0 means none.', (f) => f.swapMb),
  ),
  original_name: since(
    '2.47',
    text('Name of the flavor.', (f) => f.name),
  ),
  extra_specs: since(
    '2.47',
    field(
      'Extra specs of the flavor. Present if the policy allows the caller to read them.',
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
    .describe('Properties that the image had when the server was created or rebuilt.'),
});

function imageOf(server: Server, call: ComputeCall) {
  return { id: server.imageId, links: [call.bookmark(`/images/${server.imageId}`)] as never };
}

/** The image reference without properties; `""` for servers that boot from a volume. */
export const imageReferenceField = field(
  serverPartsTexts.imageReferenceField,
  z.union([z.literal(''), imageReference]),
  (s: Server, call: ComputeCall) => (s.imageId ? imageOf(s, call) : ''),
);

/** The image reference, with the image's properties in newer versions. */
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

/** Returns the disks of a server that are volumes. */
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

export const fault = z.strictObject({
  code: z.int().describe('HTTP status code that corresponds to the error.'),
  created: type.serverTime.describe('Time of the error, in UTC with seconds.'),
  message: z.string().describe('Error message.'),
  details: z.string().optional().describe('Traceback of the error. If `code` is 500, administrators only.'),
});

/**
 * Returns the recorded fault if the server is in error or deleted. Details of an unexpected fault (500) are only for
 * administrators.
 */
export function faultOf(server: Server, status: string, isAdmin: boolean): z.infer<typeof fault> | undefined {
  const { fault: recorded } = server;
  if (!recorded || (status !== 'ERROR' && status !== 'DELETED')) return undefined;
  const { code, message, details, createdAt } = recorded;
  const shown = details && (isAdmin || code !== 500) ? details : undefined;
  return { code, created: type.showServerTime(createdAt), message, ...(shown && { details: shown }) };
}

export const securityGroups = z.array(z.strictObject({ name: z.string().describe('Name of a security group.') }));

/** Returns the names of the security groups of all ports; undefined if there are none. */
export function securityGroupsOf(server: Server): { name: string }[] | undefined {
  const names = [...new Set(server.interfaces.flatMap(({ securityGroups }) => securityGroups))];
  return names.length > 0 ? names.map((name) => ({ name })) : undefined;
}

/** The server group of a server, as a list. */
export const groupsField = since(
  '2.71',
  field(
    'UUIDs of the server groups of the server: an empty list, or a list with one item.',
    z.array(z.string()).max(1),
    (s: Server) => (s.groupId ? [s.groupId] : []),
  ),
);

/** Returns the scheduler hints of a server, each as a list of strings. */
export function hintsOf(server: Server): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(server.schedulerHints).map(([key, value]) => [
      key,
      [value].flat().map((item) => (typeof item === 'string' ? item : JSON.stringify(item))),
    ]),
  );
}
