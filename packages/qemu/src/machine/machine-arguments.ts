import type { NetworkBackend } from '../network/user-network.js';
import type { Tuning } from '../tuning/tuning.js';
import { blockDevice, blockNodes } from './block-devices.js';
import type { MachineFolder } from './machine-folder.js';
import type { MachineLayout } from './machine-layout.js';
import type { MachineShape, NicShape } from './machine-shape.js';

/** The one model that tells guests how long packets may be. */
const NIC_WITH_MTU = 'virtio-net-pci';

/** What `device_add` and `-device` take for a network interface. */
export function nicDevice({ id, mac, mtu, model }: NicShape) {
  return {
    driver: model,
    id,
    netdev: netdevId(id),
    mac,
    romfile: '',
    ...(model === NIC_WITH_MTU && { host_mtu: mtu }),
  };
}

/** What `netdev_add` takes for what is behind an interface. */
export function nicBackend({ id, backend }: NicShape) {
  return { ...backend, id: netdevId(id) };
}

/** The name of what is behind an interface. */
export function netdevId(nicId: string): string {
  return `net-${nicId}`;
}

/** The same as nicBackend for `-netdev`, whose older versions know no JSON. */
function netdevArgument(nic: NicShape): string {
  const { type, ...fields } = nicBackend(nic) as NetworkBackend;
  const spelled = (value: string | number | boolean) => (typeof value === 'boolean' ? (value ? 'on' : 'off') : value);
  const parts = Object.entries(fields).flatMap(([name, value]) =>
    typeof value === 'object' ? value.map(({ str }) => `${name}=${str}`) : `${name}=${spelled(value)}`,
  );
  return [type, ...parts].join(',');
}

/** Forbids what QEMU never needs: other programs, other users' rights, priorities. */
const SANDBOX = 'on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny';

/**
 * The boot order of the first disk. The loader of a kernel (`-kernel`) has 0. Nothing else has one and boot order is strict,
 * so firmware tries no other device: not the config drive either, although its FAT looks like a system.
 */
const FIRST_DISK = { bootindex: 1 } as const;

/** The name by which agents in guests find their channel. */
const AGENT_CHANNEL = 'org.qemu.guest_agent.0';

function smp({ vcpus, tuning: { topology } }: MachineShape): string {
  if (!topology) return `${vcpus}`;
  return `cpus=${vcpus},sockets=${topology.sockets},cores=${topology.cores},threads=${topology.threads}`;
}

function memory({ memoryMb, tuning: { pages } }: MachineShape): readonly string[] {
  const plain = ['-m', `${memoryMb}M`];
  if (pages === null) return plain;
  const size = pages === 'default' ? '' : `,hugetlbsize=${pages}`;
  return [...plain, '-object', `memory-backend-memfd,id=ram,size=${memoryMb}M,hugetlb=on${size}`];
}

function rngDevice({ bytes, periodMs: period }: NonNullable<Tuning['rng']>) {
  return { driver: 'virtio-rng-pci', rng: 'random', ...(bytes && { 'max-bytes': bytes, period }) };
}

/**
 * The command line of a machine, which rests until it is told to go. Nothing in it comes from users as it is: names,
 * metadata and user data stay out of it, addresses and numbers are checked, and paths are this program's own.
 *
 * @param incoming the machine waits for its memory instead of booting, and is put together as the one that had it
 */
export function machineArguments(
  shape: MachineShape,
  folder: MachineFolder,
  { incoming, sandbox }: { readonly incoming: MachineLayout | undefined; readonly sandbox: boolean },
): string[] {
  const { acceleration, kernel, tuning } = shape;
  const machine = `${incoming?.type ?? tuning.machineType},accel=${acceleration}${tuning.pages === null ? '' : ',memory-backend=ram'}`;
  const cpu = [acceleration === 'kvm' ? 'host' : 'max', ...tuning.cpuProperties];
  const device = (value: Readonly<Record<string, unknown>>) => {
    const id = String(value.id);
    const place = { addr: incoming?.slots[id]?.toString(16), 'scsi-id': incoming?.units[id] };
    return ['-device', JSON.stringify({ ...value, ...place })];
  };
  const node = (value: object) => ['-blockdev', JSON.stringify(value)];
  return [
    ...['-nodefaults', '-no-user-config', '-name', shape.serverId, '-uuid', shape.serverId],
    ...['-machine', machine, '-cpu', cpu.join(), '-smp', smp(shape), ...memory(shape)],
    ...['-display', 'none', '-vga', tuning.screen, '-vnc', `unix:${folder.file('vnc')}`],
    ...['-pidfile', folder.file('pid')],
    ...['-qmp', `unix:${folder.file('qmp')},server=on,wait=off`],
    ...[
      '-chardev',
      `socket,id=console,path=${folder.file('serial')},server=on,wait=off,logfile=${folder.file('console')},logappend=on`,
    ],
    ...['-serial', 'chardev:console'],
    ...['-device', 'pvpanic'],
    ...device({ driver: 'virtio-scsi-pci', id: 'scsi' }),
    ...device({ driver: 'virtio-balloon-pci', id: 'balloon' }),
    ...(tuning.rng ? ['-object', 'rng-random,id=random,filename=/dev/urandom', ...device(rngDevice(tuning.rng))] : []),
    ...shape.disks.flatMap((disk, index) => [
      ...blockNodes(disk).flatMap(node),
      ...device({ ...blockDevice(disk, tuning.diskModel), ...(index === 0 && FIRST_DISK) }),
    ]),
    ...(shape.configDrive === null
      ? []
      : [
          ...node({
            'node-name': 'config-drive',
            driver: 'raw',
            'read-only': true,
            file: { driver: 'file', filename: shape.configDrive },
          }),
          ...device({ driver: 'scsi-hd', bus: 'scsi.0', drive: 'config-drive', id: 'config-2' }),
        ]),
    ...shape.nics.flatMap((nic) => ['-netdev', netdevArgument(nic), ...device(nicDevice(nic))]),
    ...(shape.agent
      ? [
          ...['-chardev', `socket,id=agent,path=${folder.file('agent')},server=on,wait=off`],
          ...device({ driver: 'virtio-serial-pci', id: 'channels' }),
          ...device({ driver: 'virtserialport', bus: 'channels.0', chardev: 'agent', name: AGENT_CHANNEL }),
        ]
      : []),
    ...(tuning.watchdog
      ? [...device({ driver: 'i6300esb', id: 'watchdog' }), '-action', `watchdog=${tuning.watchdog}`]
      : []),
    ...(tuning.tablet ? [...device({ driver: 'qemu-xhci', id: 'usb' }), ...device({ driver: 'usb-tablet' })] : []),
    ...['-boot', tuning.bootMenu ? 'strict=on,menu=on' : 'strict=on'],
    ...(kernel ? ['-kernel', kernel.kernel, '-append', kernel.commandLine] : []),
    ...(kernel?.ramdisk ? ['-initrd', kernel.ramdisk] : []),
    '-S',
    ...(incoming ? ['-incoming', 'defer'] : []),
    ...(sandbox ? ['-sandbox', SANDBOX] : []),
  ];
}
