import { QemuError } from '../qemu-error.js';
import type { QmpClient } from '../qmp/qmp-client.js';

/** How a machine is put together beyond what it is made of: one that takes over its memory has to be the same. */
export interface MachineLayout {
  /** The machine type with its version: `pc-i440fx-7.2`. */
  readonly type: string;
  /** Where devices are, by their id: those that came later are elsewhere than after a boot. */
  readonly slots: Readonly<Record<string, number>>;
  /** The same for disks of the SCSI bus. */
  readonly units: Readonly<Record<string, number>>;
}

interface PciDevice {
  readonly slot: number;
  readonly qdev_id: string;
}

const DEVICES = '/machine/peripheral';

async function unitsOf(qmp: QmpClient): Promise<MachineLayout['units']> {
  const devices = await qmp.execute<{ name: string; type: string }[]>('qom-list', { path: DEVICES });
  const units: Record<string, number> = {};
  for (const { name } of devices.filter(({ type }) => type === 'child<scsi-hd>'))
    units[name] = await qmp.execute<number>('qom-get', { path: `${DEVICES}/${name}`, property: 'scsi-id' });
  return units;
}

/** How a machine that runs is put together. */
export async function layoutOf(qmp: QmpClient): Promise<MachineLayout> {
  const [type, buses, units] = await Promise.all([
    qmp.execute<string>('qom-get', { path: '/machine', property: 'type' }),
    qmp.execute<{ devices: readonly PciDevice[] }[]>('query-pci'),
    unitsOf(qmp),
  ]);
  const devices = buses.flatMap((bus) => bus.devices).filter(({ qdev_id }) => qdev_id !== '');
  return {
    type: type.replace(/-machine$/, ''),
    slots: Object.fromEntries(devices.map(({ qdev_id, slot }) => [qdev_id, slot])),
    units,
  };
}

/** Takes a layout that another process tells of, which gets to a command line. */
export function checkedLayout({ type, slots, units = {} }: MachineLayout): MachineLayout {
  const places = [...Object.values(slots), ...Object.values(units)];
  if (!/^pc-[\w.-]{1,40}$/.test(type) || !places.every((place) => Number.isInteger(place) && place >= 0))
    throw new QemuError('NOT_POSSIBLE', `machines of the type ${type} cannot be taken over`);
  return { type, slots, units };
}
