import { checkedCpu, type GuestCpu } from '../cpu/guest-cpu.js';
import { QemuError } from '../qemu-error.js';
import type { QmpClient } from '../qmp/qmp-client.js';
import { MAX_QUEUES } from '../tuning/tuning.js';
import { isHotplugPort, pciDevices } from './hotplug-ports.js';
import { savedCpu } from './machine-cpu.js';
import type { MachineFolder } from './machine-folder.js';
import { queuesForVectors } from './nic-vectors.js';

/** The device layout of a machine. A machine that receives the memory of another one must have the same layout. */
export interface MachineLayout {
  /** The versioned machine type, such as `pc-i440fx-7.2`. */
  readonly type: string;
  /** PCI slots by device id. Hot-plugged devices have other slots than they would have after a boot. */
  readonly slots: Readonly<Record<string, number>>;
  /** SCSI ids of disks by device id. */
  readonly units: Readonly<Record<string, number>>;
  /** Hotplug ports by device id; other devices are on the root bus. */
  readonly buses: Readonly<Record<string, string>>;
  /** The total number of hotplug ports. */
  readonly ports: number;
  /** Numbers of queue pairs by interface id; one if missing. */
  readonly queues: Readonly<Record<string, number>>;
  /** The CPU; null if an earlier version of this package started the machine. */
  readonly cpu: GuestCpu | null;
}

const DEVICES = '/machine/peripheral';

async function unitsOf(qmp: QmpClient): Promise<MachineLayout['units']> {
  const devices = await qmp.execute<{ name: string; type: string }[]>('qom-list', { path: DEVICES });
  const units: Record<string, number> = {};
  for (const { name } of devices.filter(({ type }) => type === 'child<scsi-hd>'))
    units[name] = await qmp.execute<number>('qom-get', { path: `${DEVICES}/${name}`, property: 'scsi-id' });
  return units;
}

async function queuesOf(qmp: QmpClient): Promise<MachineLayout['queues']> {
  const devices = await qmp.execute<{ name: string; type: string }[]>('qom-list', { path: DEVICES });
  const queues: Record<string, number> = {};
  for (const { name } of devices.filter(({ type }) => type === 'child<virtio-net-pci>')) {
    const read = <T>(property: string) => qmp.execute<T>('qom-get', { path: `${DEVICES}/${name}`, property });
    if (await read<boolean>('mq')) queues[name] = queuesForVectors(await read<number>('vectors'));
  }
  return queues;
}

/** Returns the device layout of a running machine. */
export async function layoutOf(folder: MachineFolder, qmp: QmpClient): Promise<MachineLayout> {
  const [type, root, units, queues] = await Promise.all([
    qmp.execute<string>('qom-get', { path: '/machine', property: 'type' }),
    pciDevices(qmp),
    unitsOf(qmp),
    queuesOf(qmp),
  ]);
  const ports = root.filter(({ qdev_id }) => isHotplugPort(qdev_id));
  const atPorts = ports.flatMap(({ qdev_id: bus, pci_bridge }) =>
    (pci_bridge?.devices ?? []).map((device) => ({ ...device, bus })),
  );
  const devices = [...root, ...atPorts].filter(({ qdev_id }) => qdev_id !== '' && !isHotplugPort(qdev_id));
  return {
    type: type.replace(/-machine$/, ''),
    slots: Object.fromEntries(devices.map(({ qdev_id, slot }) => [qdev_id, slot])),
    units,
    buses: Object.fromEntries(atPorts.map(({ qdev_id, bus }) => [qdev_id, bus])),
    ports: ports.length,
    queues,
    cpu: await savedCpu(folder),
  };
}

/** Validates a device layout that another process has sent, before it becomes part of a command line. */
export function checkedLayout(layout: MachineLayout): MachineLayout {
  const { type, slots, units = {}, buses = {}, ports = 0, queues = {}, cpu = null } = layout;
  const places = [...Object.values(slots), ...Object.values(units), ports];
  const valid =
    /^pc-[\w.-]{1,40}$/.test(type) &&
    places.every((place) => Number.isInteger(place) && place >= 0) &&
    Object.values(buses).every(isHotplugPort) &&
    Object.values(queues).every((count) => Number.isInteger(count) && count >= 1 && count <= MAX_QUEUES);
  if (!valid) throw new QemuError('UNSUPPORTED', `unsupported machine type ${type}`);
  return { type, slots, units, buses, ports, queues, cpu: cpu && checkedCpu(cpu) };
}
