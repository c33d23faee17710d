import { type GuestCpu, validateCpu } from '../cpu/guest-cpu.js';
import { QemuError } from '../qemu-error.js';
import type { QmpClient } from '../qmp/qmp-client.js';
import { MAX_QUEUES } from '../tuning/tuning.js';
import { isHotplugPort, queryPciDevices } from './hotplug-ports.js';
import { readCpu } from './machine-cpu.js';
import type { MachineFolder } from './machine-folder.js';
import { queuesForVectors } from './nic-vectors.js';

/** The device layout of a machine. A machine that receives the memory of another one must have the same layout. */
export interface MachineLayout {
  /** The versioned machine type, such as `pc-i440fx-7.2`. */
  readonly type: string;
  /** PCI slots by device id. The slot of a hot-plugged device differs from the one that it would have after a boot. */
  readonly slots: Readonly<Record<string, number>>;
  /** SCSI ids of disks by device id. */
  readonly units: Readonly<Record<string, number>>;
  /** Hotplug ports by device id; other devices are on the root bus. */
  readonly buses: Readonly<Record<string, string>>;
  /** The total number of hotplug ports. */
  readonly ports: number;
  /** The number of queue pairs of each interface, by interface id. An interface that is not listed has one. */
  readonly queues: Readonly<Record<string, number>>;
  /** The CPU; null if an earlier version of this package started the machine. */
  readonly cpu: GuestCpu | null;
}

const DEVICES_PATH = '/machine/peripheral';

async function queryUnits(qmp: QmpClient): Promise<MachineLayout['units']> {
  const devices = await qmp.execute<{ name: string; type: string }[]>('qom-list', { path: DEVICES_PATH });
  const units: Record<string, number> = {};
  for (const { name } of devices.filter(({ type }) => type === 'child<scsi-hd>'))
    units[name] = await qmp.execute<number>('qom-get', { path: `${DEVICES_PATH}/${name}`, property: 'scsi-id' });
  return units;
}

async function queryQueues(qmp: QmpClient): Promise<MachineLayout['queues']> {
  const devices = await qmp.execute<{ name: string; type: string }[]>('qom-list', { path: DEVICES_PATH });
  const queues: Record<string, number> = {};
  for (const { name } of devices.filter(({ type }) => type === 'child<virtio-net-pci>')) {
    const readProperty = <T>(property: string) =>
      qmp.execute<T>('qom-get', { path: `${DEVICES_PATH}/${name}`, property });
    if (await readProperty<boolean>('mq')) queues[name] = queuesForVectors(await readProperty<number>('vectors'));
  }
  return queues;
}

/** Returns the device layout of a running machine. */
export async function queryLayout(folder: MachineFolder, qmp: QmpClient): Promise<MachineLayout> {
  const [type, rootDevices, units, queues] = await Promise.all([
    qmp.execute<string>('qom-get', { path: '/machine', property: 'type' }),
    queryPciDevices(qmp),
    queryUnits(qmp),
    queryQueues(qmp),
  ]);
  const ports = rootDevices.filter(({ qdev_id }) => isHotplugPort(qdev_id));
  const portDevices = ports.flatMap(({ qdev_id: bus, pci_bridge }) =>
    (pci_bridge?.devices ?? []).map((device) => ({ ...device, bus })),
  );
  const devices = [...rootDevices, ...portDevices].filter(({ qdev_id }) => qdev_id !== '' && !isHotplugPort(qdev_id));
  return {
    type: type.replace(/-machine$/, ''),
    slots: Object.fromEntries(devices.map(({ qdev_id, slot }) => [qdev_id, slot])),
    units,
    buses: Object.fromEntries(portDevices.map(({ qdev_id, bus }) => [qdev_id, bus])),
    ports: ports.length,
    queues,
    cpu: await readCpu(folder),
  };
}

/** Validates a device layout that another process has sent, before it becomes part of a command line. */
export function validateLayout(layout: MachineLayout): MachineLayout {
  const { type, slots, units = {}, buses = {}, ports = 0, queues = {}, cpu = null } = layout;
  const numbers = [...Object.values(slots), ...Object.values(units), ports];
  const isValid =
    /^pc-[\w.-]{1,40}$/.test(type) &&
    numbers.every((place) => Number.isInteger(place) && place >= 0) &&
    Object.values(buses).every(isHotplugPort) &&
    Object.values(queues).every((count) => Number.isInteger(count) && count >= 1 && count <= MAX_QUEUES);
  if (!isValid) throw new QemuError('UNSUPPORTED', `unsupported machine type ${type}`);
  return { type, slots, units, buses, ports, queues, cpu: cpu && validateCpu(cpu) };
}
