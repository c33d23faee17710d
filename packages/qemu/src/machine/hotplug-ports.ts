import { QemuError } from '../qemu-error.js';
import type { QmpClient } from '../qmp/qmp-client.js';

/** The number of free PCI Express ports that a machine has at boot for devices that are hot-plugged later. */
const SPARE_PORTS = 8;
/** The first root bus slot that holds hotplug ports, eight per slot. QEMU assigns lower slots to other devices. */
const FIRST_PORT_SLOT = 0x18;
const PORTS_PER_SLOT = 8;
const MAX_PORTS = 32;

/** A PCI device in the result of `query-pci`. */
export interface PciDevice {
  readonly slot: number;
  readonly qdev_id: string;
  readonly pci_bridge?: { readonly devices?: readonly PciDevice[] };
}

export function isHotplugPort(id: string): boolean {
  return /^port-\d{1,2}$/.test(id);
}

/** Returns the ID of a hotplug port, which is also the name of its bus. */
export function hotplugPortId(index: number): string {
  return `port-${index}`;
}

/**
 * Returns how many hotplug ports a machine has.
 * @param devices the number of devices at ports when the machine starts
 */
export function hotplugPortCount(devices: number): number {
  return Math.min(MAX_PORTS, devices + SPARE_PORTS);
}

/** Returns the `-device` arguments for the hotplug ports. */
export function hotplugPortDevices(count: number): readonly Readonly<Record<string, unknown>>[] {
  return Array.from({ length: count }, (_, index) => ({
    driver: 'pcie-root-port',
    id: hotplugPortId(index),
    chassis: index + 1,
    addr: `${(FIRST_PORT_SLOT + Math.floor(index / PORTS_PER_SLOT)).toString(16)}.${index % PORTS_PER_SLOT}`,
    multifunction: true,
  }));
}

/** Returns the devices on a running machine's root bus; devices behind ports are in `pci_bridge`. */
export async function queryPciDevices(qmp: QmpClient): Promise<readonly PciDevice[]> {
  const buses = await qmp.execute<{ devices: readonly PciDevice[] }[]>('query-pci');
  return buses.flatMap(({ devices }) => devices);
}

/**
 * Returns the bus to which a device can be hot-plugged: a free port, or an empty object if the machine has no ports and
 * devices are attached to its root bus.
 * @throws QemuError `UNSUPPORTED` if all ports are in use
 */
export async function findFreeBus(qmp: QmpClient): Promise<{ readonly bus?: string }> {
  const ports = (await queryPciDevices(qmp)).filter(({ qdev_id }) => isHotplugPort(qdev_id));
  if (ports.length === 0) return {};
  const freePort = ports.find(({ pci_bridge }) => (pci_bridge?.devices ?? []).length === 0);
  if (!freePort)
    throw new QemuError('UNSUPPORTED', `all ${ports.length} PCI Express ports are in use: restart the machine`);
  return { bus: freePort.qdev_id };
}
