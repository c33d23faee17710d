import type { FlavorCopy, Server } from '@apistrata/compute-engine';
import { isTruthyString } from '@apistrata/compute-engine/drivers';
import { QemuError } from '../qemu-error.js';
import { readRequestedTpm, type Tpm } from '../tpm/requested-tpm.js';
import { type MachineOptions, machineOptionsOf, parsePositiveInteger } from './machine-options.js';

export interface CpuTopology {
  readonly sockets: number;
  readonly cores: number;
  readonly threads: number;
}

/** I/O limits for each disk, named after the arguments of QEMU's `block_set_io_throttle`; 0 means unlimited. */
export interface DiskLimits {
  readonly bps: number;
  readonly bps_rd: number;
  readonly bps_wr: number;
  readonly iops: number;
  readonly iops_rd: number;
  readonly iops_wr: number;
}

/** CPU time limits of a machine. */
export interface CpuLimits {
  readonly shares: number | undefined;
  /** CPU time in microseconds per period, for all virtual CPUs together. */
  readonly quotaUs: number | undefined;
  readonly periodUs: number;
}

const DISK_MODELS = { virtio: 'virtio-blk-pci', scsi: 'scsi-hd', ide: 'ide-hd' } as const;
const NIC_MODELS = {
  virtio: 'virtio-net-pci',
  e1000: 'e1000',
  e1000e: 'e1000e',
  rtl8139: 'rtl8139',
  ne2k_pci: 'ne2k_pci',
  pcnet: 'pcnet',
  vmxnet3: 'vmxnet3',
} as const;
const SCREEN_MODELS = { vga: 'std', cirrus: 'cirrus', virtio: 'virtio', none: 'none' } as const;
const SECURE_BOOT_MODES = { disabled: 'disabled', optional: 'optional', required: 'required' } as const;
const WATCHDOG_ACTIONS = {
  reset: 'reset',
  poweroff: 'poweroff',
  pause: 'pause',
  none: 'none',
  disabled: null,
} as const;

/** The QEMU device model of a disk. */
export type DiskModel = (typeof DISK_MODELS)[keyof typeof DISK_MODELS];
/** The QEMU device model of a network interface. */
export type NicModel = (typeof NIC_MODELS)[keyof typeof NIC_MODELS];

/** The parts of a machine's configuration that flavors and images can tune. */
export interface Tuning {
  readonly topology: CpuTopology | null;
  readonly machineType: string;
  /** Properties to append to QEMU's option `-cpu`. */
  readonly cpuProperties: readonly string[];
  readonly dedicated: boolean;
  readonly cpu: CpuLimits | null;
  /** The huge page size in bytes, or `default` for the system's default; null for normal pages. */
  readonly pageBytes: number | 'default' | null;
  readonly diskModel: DiskModel;
  readonly diskLimits: DiskLimits | null;
  readonly nicModel: NicModel;
  /** The number of queue pairs per network interface. */
  readonly nicQueues: number;
  /** The random number generator, limited to `bytes` every `periodMs` milliseconds; null if the machine has none. */
  readonly rng: { readonly bytes: number | undefined; readonly periodMs: number } | null;
  readonly watchdog: 'reset' | 'poweroff' | 'pause' | 'none' | null;
  readonly screen: (typeof SCREEN_MODELS)[keyof typeof SCREEN_MODELS];
  readonly tablet: boolean;
  readonly bootMenu: boolean;
  readonly firmware: 'bios' | 'uefi';
  readonly secureBoot: 'disabled' | 'optional' | 'required';
  readonly tpm: Tpm | null;
}

const KIB = 1024;
const DEFAULT_PAGE_BYTES = 4 * KIB;
const UNIT_FACTORS: Readonly<Record<string, number>> = { k: KIB, m: KIB ** 2, g: KIB ** 3, t: KIB ** 4 };
/** The maximum number of queues of a TAP device since Linux 4.0. */
export const MAX_QUEUES = 256;
const DEFAULT_CPU_PERIOD_US = 100_000;
const DEFAULT_RNG_PERIOD_MS = 1_000;

/** Returns a table's entry for a key, or the fallback if the key is unknown. */
function lookUp<Table extends object, Default>(table: Table, key: string | undefined, fallback: Default) {
  return key !== undefined && Object.hasOwn(table, key) ? table[key as keyof Table] : fallback;
}

/**
 * Returns the requested CPU topology, completed if necessary; null if none is requested, or if it does not match the
 * number of VCPUs.
 */
function topologyOf(vcpus: number, option: MachineOptions): CpuTopology | null {
  const [sockets, cores, threads] = (['cpuSockets', 'cpuCores', 'cpuThreads'] as const).map((part) =>
    parsePositiveInteger(option(part)),
  );
  if (sockets === undefined && cores === undefined && threads === undefined) return null;
  const missingFactor = vcpus / ((sockets ?? 1) * (cores ?? 1) * (threads ?? 1));
  if (!Number.isInteger(missingFactor)) return null;
  if (sockets === undefined) return { sockets: missingFactor, cores: cores ?? 1, threads: threads ?? 1 };
  if (cores === undefined) return { sockets, cores: missingFactor, threads: threads ?? 1 };
  if (threads === undefined) return { sockets, cores, threads: missingFactor };
  return missingFactor === 1 ? { sockets, cores, threads } : null;
}

/** Parses a memory page size: `2MB`, `2048` (KiB), `1Gb` (bits) or `large`. */
function parsePageBytes(pageSize: string | undefined): Tuning['pageBytes'] {
  if (pageSize === 'large') return 'default';
  const [, digits, unit = 'K', suffix = ''] = /^(\d{1,12})([kKMGT])?i?(b|bit|B)?$/.exec(pageSize ?? '') ?? [];
  const bytes =
    (Number(digits) * (UNIT_FACTORS[unit.toLowerCase()] ?? 1)) / (suffix === 'b' || suffix === 'bit' ? 8 : 1);
  return bytes > DEFAULT_PAGE_BYTES ? bytes : null;
}

/** Returns the requested disk limits. QEMU accepts either a combined limit for reads and writes, or separate ones. */
function diskLimitsOf(option: MachineOptions): DiskLimits | null {
  const readLimit = (name: Parameters<MachineOptions>[0]) => parsePositiveInteger(option(name)) ?? 0;
  const selectLimits = (total: number, read: number, write: number) =>
    [read || write ? 0 : total, read, write] as const;
  const [bps, bps_rd, bps_wr] = selectLimits(
    readLimit('diskTotalBytes'),
    readLimit('diskReadBytes'),
    readLimit('diskWriteBytes'),
  );
  const [iops, iops_rd, iops_wr] = selectLimits(
    readLimit('diskRequests'),
    readLimit('diskReads'),
    readLimit('diskWrites'),
  );
  const limits = { bps, bps_rd, bps_wr, iops, iops_rd, iops_wr };
  return Object.values(limits).some((value) => value > 0) ? limits : null;
}

function cpuLimitsOf(vcpus: number, option: MachineOptions): CpuLimits | null {
  const [shares, quota] = [parsePositiveInteger(option('cpuShares')), parsePositiveInteger(option('cpuQuota'))];
  if (shares === undefined && quota === undefined) return null;
  const periodUs = parsePositiveInteger(option('cpuPeriod')) ?? DEFAULT_CPU_PERIOD_US;
  return { shares, quotaUs: quota === undefined ? undefined : quota * vcpus, periodUs };
}

function cpuPropertiesOf(option: MachineOptions): readonly string[] {
  const pmu = option('pmu');
  return [
    ...(isTruthyString(option('hideHypervisor')) ? ['kvm=off'] : []),
    ...(pmu === undefined ? [] : [`pmu=${isTruthyString(pmu) ? 'on' : 'off'}`]),
  ];
}

/** Returns the device model of network interfaces, and their number of queue pairs. */
function nicsOf(vcpus: number, option: MachineOptions): Pick<Tuning, 'nicModel' | 'nicQueues'> {
  const nicModel = lookUp(NIC_MODELS, option('nicModel'), NIC_MODELS.virtio);
  const isMultiqueue = isTruthyString(option('multiqueue')) && nicModel === NIC_MODELS.virtio;
  return { nicModel, nicQueues: isMultiqueue ? Math.min(vcpus, MAX_QUEUES) : 1 };
}

/** Returns true for machine types with the PCI Express chipset Q35, which accept hot-plugged devices only at ports. */
export function isQ35(machineType: string): boolean {
  return machineType.includes('q35');
}

/** Returns the requested machine type. @throws QemuError `UNSUPPORTED` if the type is unknown */
function machineTypeOf(type: string | undefined): string {
  if (type === undefined || type === '') return 'pc';
  if (/^(pc|q35|pc-(i440fx|q35)-\d{1,3}\.\d{1,3})$/.test(type)) return type;
  throw new QemuError('UNSUPPORTED', `the machine type ${type} (hw_machine_type) is not supported: use pc or q35`);
}

/** Returns the requested firmware. @throws QemuError `UNSUPPORTED` if secure boot is required without UEFI */
function firmwareOf(option: MachineOptions): Pick<Tuning, 'firmware' | 'secureBoot'> {
  const firmware = option('firmware') === 'uefi' ? 'uefi' : 'bios';
  const secureBoot = lookUp(SECURE_BOOT_MODES, option('secureBoot'), 'disabled');
  if (secureBoot === 'required' && firmware !== 'uefi')
    throw new QemuError(
      'UNSUPPORTED',
      'secure boot is required, but works only with UEFI: set the image property hw_firmware_type=uefi',
    );
  return { firmware, secureBoot };
}

/** Returns the machine tuning that a flavor and an image request. */
export function tuningOf(flavor: FlavorCopy, properties: Server['imageProperties']): Tuning {
  const option = machineOptionsOf(flavor, properties);
  const rngAllowed = option('rngAllowed');
  return {
    topology: topologyOf(flavor.vcpus, option),
    machineType: machineTypeOf(option('machineType')),
    cpuProperties: cpuPropertiesOf(option),
    dedicated: option('cpuPolicy') === 'dedicated',
    cpu: cpuLimitsOf(flavor.vcpus, option),
    pageBytes: parsePageBytes(option('pageSize')),
    diskModel: lookUp(DISK_MODELS, option('diskBus'), DISK_MODELS.virtio),
    diskLimits: diskLimitsOf(option),
    ...nicsOf(flavor.vcpus, option),
    rng:
      rngAllowed !== undefined && !isTruthyString(rngAllowed)
        ? null
        : {
            bytes: parsePositiveInteger(option('rngBytes')),
            periodMs: parsePositiveInteger(option('rngPeriod')) ?? DEFAULT_RNG_PERIOD_MS,
          },
    watchdog: lookUp(WATCHDOG_ACTIONS, option('watchdog'), null),
    screen: lookUp(SCREEN_MODELS, option('video'), SCREEN_MODELS.vga),
    tablet: option('pointer') === 'usbtablet',
    bootMenu: isTruthyString(option('bootMenu')),
    ...firmwareOf(option),
    tpm: readRequestedTpm(option),
  };
}
