import { cpuArgument } from '../cpu/guest-cpu.js';
import type { Firmware, FirmwareFile } from '../firmware/find-firmware.js';
import type { NetworkBackend } from '../network/user-network.js';
import { isQ35, type Tuning } from '../tuning/tuning.js';
import { createBlockDevice, createBlockNodes, isCdrom } from './block-devices.js';
import { hotplugPortCount, hotplugPortDevices, hotplugPortId } from './hotplug-ports.js';
import type { MachineFolder } from './machine-folder.js';
import type { MachineLayout } from './machine-layout.js';
import type { MachineShape, NicShape } from './machine-shape.js';
import { vectorsForQueues } from './nic-vectors.js';

/** The only network device model that reports the MTU to the guest and supports several queues. */
const VIRTIO_NIC_MODEL = 'virtio-net-pci';

/** Returns the `device_add` or `-device` arguments for a network interface. */
export function createNicDevice({ id, mac, mtu, model, backend }: NicShape) {
  const queues = Number(backend.queues ?? 1);
  return {
    driver: model,
    id,
    netdev: netdevId(id),
    mac,
    romfile: '',
    ...(model === VIRTIO_NIC_MODEL && { host_mtu: mtu }),
    ...(queues > 1 && { mq: true, vectors: vectorsForQueues(queues) }),
  };
}

/** Returns the `netdev_add` arguments for an interface's network backend. */
export function createNicBackend({ id, backend }: NicShape) {
  return { ...backend, id: netdevId(id) };
}

/** Returns the QEMU id of an interface's network backend. */
export function netdevId(nicId: string): string {
  return `net-${nicId}`;
}

/**
 * Returns the `-netdev` argument for an interface's network backend. Older versions of QEMU do not accept JSON here.
 */
function netdevArgument(nic: NicShape): string {
  const { type, ...fields } = createNicBackend(nic) as NetworkBackend;
  const formatValue = (value: string | number | boolean) =>
    typeof value === 'boolean' ? (value ? 'on' : 'off') : value;
  const fieldOptions = Object.entries(fields).flatMap(([name, value]) =>
    typeof value === 'object' ? value.map(({ str }) => `${name}=${str}`) : `${name}=${formatValue(value)}`,
  );
  return [type, ...fieldOptions].join(',');
}

/** The QEMU sandbox options, which forbid starting programs and changing privileges or priorities. */
const SANDBOX_OPTIONS = 'on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny';

/**
 * The boot index of the first disk; 0 is the index of a kernel (`-kernel`). No other device has a boot index, and the
 * boot order is strict, so that firmware never tries to boot from another device, such as the config drive, whose FAT
 * file system looks bootable.
 */
const FIRST_BOOT_INDEX = { bootindex: 1 } as const;

/** The name of the virtio-serial channel that guest agents open. */
const AGENT_CHANNEL = 'org.qemu.guest_agent.0';

function smpArgument({ vcpus, tuning: { topology } }: MachineShape): string {
  if (!topology) return `${vcpus}`;
  return `cpus=${vcpus},sockets=${topology.sockets},cores=${topology.cores},threads=${topology.threads}`;
}

function memoryArguments({ memoryMb, tuning: { pageBytes } }: MachineShape): readonly string[] {
  const memoryOptions = ['-m', `${memoryMb}M`];
  if (pageBytes === null) return memoryOptions;
  const sizeOption = pageBytes === 'default' ? '' : `,hugetlbsize=${pageBytes}`;
  return [...memoryOptions, '-object', `memory-backend-memfd,id=ram,size=${memoryMb}M,hugetlb=on${sizeOption}`];
}

function createRngDevice({ bytes, periodMs: period }: NonNullable<Tuning['rng']>) {
  return { driver: 'virtio-rng-pci', rng: 'random', ...(bytes && { 'max-bytes': bytes, period }) };
}

/**
 * Returns the block nodes for UEFI firmware: one for the code, and one for the variables, which the guest can change.
 */
function createFlashNodes({ code, variables }: Firmware): readonly object[] {
  const createNode = (name: string, { file: filename, format: driver }: FirmwareFile, readOnly: boolean) => {
    return { 'node-name': name, driver, 'read-only': readOnly, file: { driver: 'file', filename } };
  };
  return [createNode('firmware', code, true), createNode('firmware-variables', variables, false)];
}

/** Returns the number of hotplug ports (zero if devices are attached to the root bus), and each device's port. */
function assignPorts({ disks, nics, tuning }: MachineShape, machineType: string) {
  if (!isQ35(machineType)) return { count: 0, bus: () => ({}) };
  const portDeviceIds = [
    ...(tuning.diskModel === 'virtio-blk-pci' ? disks.filter((disk) => !isCdrom(disk)) : []),
    ...nics,
  ].map(({ id }) => id);
  const bus = (id: string) => (portDeviceIds.includes(id) ? { bus: hotplugPortId(portDeviceIds.indexOf(id)) } : {});
  return { count: hotplugPortCount(portDeviceIds.length), bus };
}

/**
 * Returns QEMU's command-line arguments for a machine, which starts paused. They contain no user input: names, metadata
 * and user data are passed in other ways, addresses and numbers are validated, and this package chooses all paths.
 *
 * @param incoming the device layout of the machine from which this one receives its memory; undefined if it boots
 */
export function machineArguments(
  shape: MachineShape,
  folder: MachineFolder,
  { incoming, sandbox }: { readonly incoming: MachineLayout | undefined; readonly sandbox: boolean },
): string[] {
  const { acceleration, firmware, kernel, tuning } = shape;
  const machineType = incoming?.type ?? tuning.machineType;
  const machineOptions = [
    machineType,
    `accel=${acceleration}`,
    ...(tuning.pageBytes === null ? [] : ['memory-backend=ram']),
    ...(firmware ? ['pflash0=firmware', 'pflash1=firmware-variables', `smm=${firmware.needsSmm ? 'on' : 'off'}`] : []),
  ];
  const cpu = cpuArgument(shape.cpu, tuning.cpuProperties);
  const deviceArguments = (value: Readonly<Record<string, unknown>>) => {
    const id = String(value.id);
    const bus = incoming?.buses[id];
    const placement = { addr: incoming?.slots[id]?.toString(16), 'scsi-id': incoming?.units[id], ...(bus && { bus }) };
    return ['-device', JSON.stringify({ ...value, ...placement })];
  };
  const ports = assignPorts(shape, machineType);
  const nodeArguments = (value: object) => ['-blockdev', JSON.stringify(value)];
  return [
    ...['-nodefaults', '-no-user-config', '-name', shape.serverId, '-uuid', shape.serverId],
    ...['-machine', machineOptions.join(), '-cpu', cpu, '-smp', smpArgument(shape), ...memoryArguments(shape)],
    ...(firmware ? createFlashNodes(firmware).flatMap(nodeArguments) : []),
    ...(firmware?.needsSmm ? ['-global', 'driver=cfi.pflash01,property=secure,value=on'] : []),
    ...hotplugPortDevices(incoming?.ports ?? ports.count).flatMap((port) => ['-device', JSON.stringify(port)]),
    ...['-display', 'none', '-vga', tuning.screen, '-vnc', `unix:${folder.file('vnc')}`],
    ...['-pidfile', folder.file('pid')],
    // The fence guard has its own socket, because a suspended host process may occupy the other one.
    ...(['qmp', 'guard'] as const).flatMap((name) => ['-qmp', `unix:${folder.file(name)},server=on,wait=off`]),
    ...[
      '-chardev',
      `socket,id=console,path=${folder.file('serial')},server=on,wait=off,logfile=${folder.file('console')},logappend=on`,
    ],
    ...['-serial', 'chardev:console'],
    ...['-device', 'pvpanic'],
    ...deviceArguments({ driver: 'virtio-scsi-pci', id: 'scsi' }),
    ...deviceArguments({ driver: 'virtio-balloon-pci', id: 'balloon' }),
    ...(tuning.rng
      ? ['-object', 'rng-random,id=random,filename=/dev/urandom', ...deviceArguments(createRngDevice(tuning.rng))]
      : []),
    ...shape.disks.flatMap((disk, index) => [
      ...createBlockNodes(disk).flatMap(nodeArguments),
      ...deviceArguments({
        ...createBlockDevice(disk, tuning.diskModel),
        ...(index === 0 && FIRST_BOOT_INDEX),
        ...ports.bus(disk.id),
      }),
    ]),
    ...(shape.configDrive === null
      ? []
      : [
          ...nodeArguments({
            'node-name': 'config-drive',
            driver: 'raw',
            'read-only': true,
            file: { driver: 'file', filename: shape.configDrive },
          }),
          ...deviceArguments({ driver: 'scsi-hd', bus: 'scsi.0', drive: 'config-drive', id: 'config-2' }),
        ]),
    ...shape.nics.flatMap((nic) => [
      '-netdev',
      netdevArgument(nic),
      ...deviceArguments({ ...createNicDevice(nic), ...ports.bus(nic.id) }),
    ]),
    ...(shape.agent
      ? [
          ...['-chardev', `socket,id=agent,path=${folder.file('agent')},server=on,wait=off`],
          ...deviceArguments({ driver: 'virtio-serial-pci', id: 'channels' }),
          ...deviceArguments({ driver: 'virtserialport', bus: 'channels.0', chardev: 'agent', name: AGENT_CHANNEL }),
        ]
      : []),
    ...(tuning.tpm
      ? [
          ...['-chardev', `socket,id=tpm,path=${folder.file('tpm')}`, '-tpmdev', 'emulator,id=tpm,chardev=tpm'],
          ...['-device', `${tuning.tpm.model},tpmdev=tpm`],
        ]
      : []),
    ...(tuning.watchdog
      ? [...deviceArguments({ driver: 'i6300esb', id: 'watchdog' }), '-action', `watchdog=${tuning.watchdog}`]
      : []),
    ...(tuning.tablet
      ? [...deviceArguments({ driver: 'qemu-xhci', id: 'usb' }), ...deviceArguments({ driver: 'usb-tablet' })]
      : []),
    ...['-boot', tuning.bootMenu ? 'strict=on,menu=on' : 'strict=on'],
    ...(kernel ? ['-kernel', kernel.kernel, '-append', kernel.commandLine] : []),
    ...(kernel?.ramdisk ? ['-initrd', kernel.ramdisk] : []),
    '-S',
    ...(incoming ? ['-incoming', 'defer'] : []),
    ...(sandbox ? ['-sandbox', SANDBOX_OPTIONS] : []),
  ];
}
