import type { NetworkBackend } from '../network/user-network.js';
import { blockDevice, blockNodes } from './block-devices.js';
import type { MachineFolder } from './machine-folder.js';
import type { MachineShape, NicShape } from './machine-shape.js';

/** What `device_add` and `-device` take for a network interface. */
export function nicDevice({ id, mac, mtu }: NicShape) {
  return { driver: 'virtio-net-pci', id, netdev: netdevId(id), mac, romfile: '', host_mtu: mtu };
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

/** The name by which agents in guests find their channel. */
const AGENT_CHANNEL = 'org.qemu.guest_agent.0';

function smp({ vcpus, topology }: MachineShape): string {
  if (!topology) return `${vcpus}`;
  return `cpus=${vcpus},sockets=${topology.sockets},cores=${topology.cores},threads=${topology.threads}`;
}

/**
 * The command line of a machine. Nothing in it comes from users as it is: names, metadata and user data stay out of it,
 * addresses and numbers are checked, and paths are this program's own.
 *
 * @param incoming the machine waits for its memory instead of booting
 */
export function machineArguments(
  shape: MachineShape,
  folder: MachineFolder,
  { incoming, sandbox }: { readonly incoming: boolean; readonly sandbox: boolean },
): string[] {
  const { acceleration, kernel } = shape;
  const device = (value: object) => ['-device', JSON.stringify(value)];
  const node = (value: object) => ['-blockdev', JSON.stringify(value)];
  return [
    ...['-nodefaults', '-no-user-config', '-name', shape.serverId, '-uuid', shape.serverId],
    ...['-machine', `pc,accel=${acceleration}`, '-cpu', acceleration === 'kvm' ? 'host' : 'max'],
    ...['-smp', smp(shape), '-m', `${shape.memoryMb}M`],
    ...['-display', 'none', '-vga', 'std', '-vnc', `unix:${folder.file('vnc')}`],
    ...['-pidfile', folder.file('pid')],
    ...['-qmp', `unix:${folder.file('qmp')},server=on,wait=off`],
    ...[
      '-chardev',
      `socket,id=console,path=${folder.file('serial')},server=on,wait=off,logfile=${folder.file('console')},logappend=on`,
    ],
    ...['-serial', 'chardev:console'],
    ...device({ driver: 'virtio-scsi-pci', id: 'scsi' }),
    ...device({ driver: 'virtio-balloon-pci', id: 'balloon' }),
    ...['-object', 'rng-random,id=random,filename=/dev/urandom'],
    ...device({ driver: 'virtio-rng-pci', rng: 'random' }),
    ...shape.disks.flatMap((disk) => [...blockNodes(disk).flatMap(node), ...device(blockDevice(disk))]),
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
    ...(kernel ? ['-kernel', kernel.kernel, '-append', kernel.commandLine] : []),
    ...(kernel?.ramdisk ? ['-initrd', kernel.ramdisk] : []),
    ...(incoming ? ['-incoming', 'defer'] : []),
    ...(sandbox ? ['-sandbox', SANDBOX] : []),
  ];
}
