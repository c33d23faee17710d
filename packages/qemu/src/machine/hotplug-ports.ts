import { QemuError } from '../qemu-error.js';
import type { QmpClient } from '../qmp/qmp-client.js';

/** The number of ports that a machine has for devices that are attached while it runs. */
const SPARE_PORTS = 8;
/** The first of the root bus slots that hold the ports, eight in each. QEMU assigns lower slots to other devices. */
const FIRST_SLOT = 0x18;
const PORTS_PER_SLOT = 8;
const MAX_PORTS = 32;

/** A device as `query-pci` describes it. */
export interface PciDevice {
  readonly slot: number;
  readonly qdev_id: string;
  readonly pci_bridge?: { readonly devices?: readonly PciDevice[] };
}

export function isHotplugPort(id: string): boolean {
  return /^port-\d{1,2}$/.test(id);
}

/** Returns the ID of a hotplug port, which is also the name of its bus. */
export function hotplugBus(index: number): string {
  return `port-${index}`;
}

/** Returns how many ports a machine has. @param devices the number of devices at ports when it starts */
export function hotplugPortCount(devices: number): number {
  return Math.min(MAX_PORTS, devices + SPARE_PORTS);
}

/** Returns the arguments of `-device` for the ports. */
export function hotplugPortDevices(count: number): readonly Readonly<Record<string, unknown>>[] {
  return Array.from({ length: count }, (_, index) => ({
    driver: 'pcie-root-port',
    id: hotplugBus(index),
    chassis: index + 1,
    addr: `${(FIRST_SLOT + Math.floor(index / PORTS_PER_SLOT)).toString(16)}.${index % PORTS_PER_SLOT}`,
    multifunction: true,
  }));
}

/** Returns all devices of the root bus of a running machine; those behind ports are in `pci_bridge`. */
export async function pciDevices(qmp: QmpClient): Promise<readonly PciDevice[]> {
  const buses = await qmp.execute<{ devices: readonly PciDevice[] }[]>('query-pci');
  return buses.flatMap(({ devices }) => devices);
}

/**
 * Returns the bus for a device that is attached to a running machine: a free port, or an empty object if
 * devices are attached to the root bus.
 * @throws QemuError `UNSUPPORTED` if all ports are in use
 */
export async function freeHotplugBus(qmp: QmpClient): Promise<{ readonly bus?: string }> {
  const ports = (await pciDevices(qmp)).filter(({ qdev_id }) => isHotplugPort(qdev_id));
  if (ports.length === 0) return {};
  const free = ports.find(({ pci_bridge }) => (pci_bridge?.devices ?? []).length === 0);
  if (!free)
    throw new QemuError('UNSUPPORTED', `all ${ports.length} PCI Express ports of the machine are in use: restart it`);
  return { bus: free.qdev_id };
}
