import { QemuError } from '../qemu-error.js';
import type { QmpClient } from '../qmp/qmp-client.js';

/** How a machine is put together beyond what it is made of: one that takes over its memory has to be the same. */
export interface MachineLayout {
  /** The machine type with its version: `pc-i440fx-7.2`. */
  readonly type: string;
  /** Where devices are, by their id: those that came later are elsewhere than after a boot. */
  readonly slots: Readonly<Record<string, number>>;
}

interface PciDevice {
  readonly slot: number;
  readonly qdev_id: string;
}

/** How a machine that runs is put together. */
export async function layoutOf(qmp: QmpClient): Promise<MachineLayout> {
  const [type, buses] = await Promise.all([
    qmp.execute<string>('qom-get', { path: '/machine', property: 'type' }),
    qmp.execute<{ devices: readonly PciDevice[] }[]>('query-pci'),
  ]);
  const devices = buses.flatMap((bus) => bus.devices).filter(({ qdev_id }) => qdev_id !== '');
  return {
    type: type.replace(/-machine$/, ''),
    slots: Object.fromEntries(devices.map(({ qdev_id, slot }) => [qdev_id, slot])),
  };
}

/** Takes a layout that another host tells of, which gets to a command line. */
export function checkedLayout({ type, slots }: MachineLayout): MachineLayout {
  if (!/^pc-[\w.-]{1,40}$/.test(type) || !Object.values(slots).every((slot) => Number.isInteger(slot) && slot >= 0))
    throw new QemuError('NOT_POSSIBLE', `machines of the type ${type} cannot be taken over`);
  return { type, slots };
}
