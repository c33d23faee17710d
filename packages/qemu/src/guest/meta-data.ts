import { randomBytes } from 'node:crypto';
import type { Server } from '@apistrata/compute-engine';
import type { GuestInterface } from './guest-networks.js';
import { netmaskOf } from './netmask.js';

/** A file that the guest creates at its first boot. The contents are Base64-encoded. */
export interface InjectedFile {
  readonly path: string;
  readonly contents: string;
}

/** Guest metadata that is stored in the machine's folder, where only the user that runs QEMU can read it. */
export interface GuestSecrets {
  readonly adminPassword: string | null;
  readonly files: readonly InjectedFile[];
}

export interface GuestMetadata {
  readonly server: Server;
  readonly interfaces: readonly GuestInterface[];
  readonly secrets: GuestSecrets;
}

/** Returns the path of an injected file on the config drive. */
export function contentPath(index: number): string {
  return `/content/${String(index).padStart(4, '0')}`;
}

function listTaggedDevices({ server, interfaces }: GuestMetadata) {
  const nics = interfaces
    .filter(({ tag }) => tag !== null)
    .map(({ mac, tag }) => ({ type: 'nic', bus: 'pci', address: 'none', mac, tags: [tag] }));
  const disks = server.blockDevices
    .filter(({ tag }) => tag !== null)
    .map(({ volumeId, device, tag }) => ({
      type: 'disk',
      bus: 'virtio',
      address: 'none',
      serial: volumeId ?? '',
      path: device,
      tags: [tag],
    }));
  return [...nics, ...disks];
}

/** Returns `meta_data.json` in the OpenStack format. */
export function createMetaData(metadata: GuestMetadata): object {
  const { server, secrets } = metadata;
  const { keyName, keyData } = server;
  const keys = keyName !== null && keyData !== null ? [{ name: keyName, type: 'ssh', data: keyData }] : [];
  const [firstKey] = keys;
  return {
    uuid: server.id,
    name: server.name,
    hostname: server.hostname,
    launch_index: server.launchIndex,
    availability_zone: server.pinnedZone ?? undefined,
    project_id: server.projectId,
    meta: server.metadata,
    ...(firstKey && { keys, public_keys: { [firstKey.name]: firstKey.data } }),
    ...(secrets.adminPassword !== null && { admin_pass: secrets.adminPassword }),
    files: secrets.files.map(({ path }, index) => ({ path, content_path: contentPath(index) })),
    devices: listTaggedDevices(metadata),
    dedicated_cpus: [],
    random_seed: randomBytes(512).toString('base64'),
  };
}

/** Returns `network_data.json` in the OpenStack format. */
export function createNetworkData({ interfaces }: Pick<GuestMetadata, 'interfaces'>): object {
  const linkId = (index: number) => `interface${index}`;
  return {
    links: interfaces.map(({ portId, mac, mtu }, index) => ({
      id: linkId(index),
      type: 'phy',
      ethernet_mac_address: mac,
      mtu,
      vif_id: portId,
    })),
    networks: interfaces.flatMap(({ networkId, addresses }, link) =>
      addresses.map(({ address, version, isStatic, cidr, gateway, nameservers, routes }, index) => {
        const defaultDestination =
          version === 4 ? { network: '0.0.0.0', netmask: '0.0.0.0' } : { network: '::', netmask: '::' };
        return {
          id: `network${link}-${index}`,
          type: version === 4 && !isStatic ? 'ipv4_dhcp' : `ipv${version}`,
          link: linkId(link),
          network_id: networkId,
          ip_address: address,
          netmask: netmaskOf(cidr),
          routes: [
            ...(gateway === null ? [] : [{ ...defaultDestination, gateway }]),
            ...routes.map(({ destination, nexthop }) => ({
              network: destination.split('/')[0],
              netmask: netmaskOf(destination),
              gateway: nexthop,
            })),
          ],
          services: nameservers.map((server) => ({ type: 'dns', address: server })),
        };
      }),
    ),
    services: [...new Set(interfaces.flatMap(({ addresses }) => addresses.flatMap((a) => a.nameservers)))].map(
      (address) => ({ type: 'dns', address }),
    ),
  };
}
