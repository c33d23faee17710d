import { usesPhysicalNetwork } from '@apistrata/compute-engine/catalogs';
import type { NetworkPlan, PlannedNetwork } from '@apistrata/compute-engine/drivers';
import { runProgram } from '../programs/run-program.js';
import { QemuError } from '../qemu-error.js';
import type { DesiredLink } from './desired-link.js';
import type { DeviceNames } from './device-names.js';

/** Matches network device names that Linux accepts and that are safe in commands. */
const DEVICE_NAME_PATTERN = /^[A-Za-z0-9_.-]{1,15}$/;

/** A network device of this computer that leads to a physical network. */
export interface PhysicalDevice {
  readonly device: string;
  readonly isBridge: boolean;
}

/** The devices that lead to physical networks, by the physical network's name. */
export type PhysicalNetworks = ReadonlyMap<string, PhysicalDevice>;

const createUnusableDeviceError = (name: string, device: string, reason: string) =>
  new QemuError('NETWORKS_UNAVAILABLE', `the physical network ${name} cannot use ${device}: ${reason}`);

/** A network device in the output of `ip address show`. */
interface IpLink {
  readonly linkinfo?: { readonly info_kind?: string };
  readonly addr_info: readonly { readonly scope: string }[];
}

async function queryLink(device: string, ip: string): Promise<IpLink | undefined> {
  const output = await runProgram(ip, ['-json', '-details', 'address', 'show', 'dev', device], {
    runAs: undefined,
  }).catch(() => '');
  const [link]: readonly IpLink[] = JSON.parse(output || '[]');
  return link;
}

/**
 * Finds the network devices that lead to physical networks.
 *
 * @param devices the device names by physical network name; each device is a bridge, or an interface without addresses
 * @param ip the path of `ip`
 * @throws QemuError `NETWORKS_UNAVAILABLE` if a device does not exist, or is an interface that has addresses
 */
export async function findPhysicalNetworks(
  devices: Readonly<Record<string, string>>,
  ip: string,
): Promise<PhysicalNetworks> {
  const foundDevices = new Map<string, PhysicalDevice>();
  for (const [name, device] of Object.entries(devices)) {
    const link = DEVICE_NAME_PATTERN.test(device) ? await queryLink(device, ip) : undefined;
    if (!link) throw createUnusableDeviceError(name, device, 'this computer does not have this device');
    const isBridge = link.linkinfo?.info_kind === 'bridge';
    if (!isBridge && link.addr_info.some(({ scope }) => scope === 'global'))
      throw createUnusableDeviceError(
        name,
        device,
        'its IP addresses would stop working: attach it to a bridge, and move the addresses to the bridge',
      );
    foundDevices.set(name, { device, isBridge });
  }
  return foundDevices;
}

/** Returns the device that leads to a network's physical network; undefined if there is none on this computer. */
export function findPhysicalDevice(
  network: Pick<PlannedNetwork, 'provider'>,
  physicalNetworks: PhysicalNetworks,
): PhysicalDevice | undefined {
  return usesPhysicalNetwork(network) ? physicalNetworks.get(network.provider?.physicalNetwork ?? '') : undefined;
}

/**
 * Checks that this computer is connected to the physical network of a port, if any.
 *
 * @throws QemuError `NETWORKS_UNAVAILABLE` if it is not connected
 */
export function checkPhysicalNetwork(
  { networks, ports }: NetworkPlan,
  portId: string,
  physicalNetworks: PhysicalNetworks,
): void {
  const port = ports.find(({ id }) => id === portId);
  const network = networks.find(({ id }) => id === port?.networkId);
  if (!network || !usesPhysicalNetwork(network) || findPhysicalDevice(network, physicalNetworks)) return;
  const name = network.provider?.physicalNetwork;
  throw new QemuError(
    'NETWORKS_UNAVAILABLE',
    `this host is not connected to the physical network ${name} of the network ${network.name}: start it with --provider-network ${name}=BRIDGE`,
  );
}

/** Returns the devices on a network's bridge that lead to its physical network. */
export function outerDevices(
  network: PlannedNetwork,
  names: DeviceNames,
  physicalNetworks: PhysicalNetworks,
): readonly string[] {
  const physical = findPhysicalDevice(network, physicalNetworks);
  if (!physical) return [];
  if (network.provider?.networkType === 'vlan') return [names.vlan(network.id)];
  return [physical.isBridge ? names.physical(network.id) : physical.device];
}

/**
 * Returns the devices that connect a network to its physical network: a device pair that leads to a bridge, or the
 * interface itself, and, for a VLAN, a VLAN device.
 */
export function physicalLinks(
  network: PlannedNetwork,
  names: DeviceNames,
  physicalNetworks: PhysicalNetworks,
): readonly DesiredLink[] {
  const physical = findPhysicalDevice(network, physicalNetworks);
  if (!physical) return [];
  const { id, mtu, provider } = network;
  const bridge = names.bridge(id);
  const isVlan = provider?.networkType === 'vlan';
  const parent = physical.isBridge ? names.physical(id) : physical.device;
  const pair: DesiredLink = {
    kind: 'pair',
    name: names.physicalPeer(id),
    peer: names.physical(id),
    bridge: physical.device,
    mtu,
  };
  const tag = provider?.segmentationId ?? 0;
  return [
    ...(physical.isBridge ? [pair] : []),
    // A VLAN device can be up only if its parent is up.
    { kind: 'port', name: parent, bridge: isVlan ? null : bridge, mtu },
    ...(isVlan ? [{ kind: 'vlan', name: names.vlan(id), parent, tag, bridge, mtu } as const] : []),
  ];
}
