import type { FlavorCopy, Server } from '@apistrata/compute-engine';
import { isYes } from '@apistrata/compute-engine/drivers';
import { type MachineOptions, machineOptionsOf, positive } from './machine-options.js';

export interface CpuTopology {
  readonly sockets: number;
  readonly cores: number;
  readonly threads: number;
}

/** Bounds of each disk, as QEMU's `block_set_io_throttle` takes them; 0: none. */
export interface DiskLimits {
  readonly bps: number;
  readonly bps_rd: number;
  readonly bps_wr: number;
  readonly iops: number;
  readonly iops_rd: number;
  readonly iops_wr: number;
}

/** What a machine gets of the processors' time. */
export interface CpuLimits {
  readonly shares: number | undefined;
  /** Microseconds of each period, all processors of the machine together. */
  readonly quotaUs: number | undefined;
  readonly periodUs: number;
}

const BUSES = { virtio: 'virtio-blk-pci', scsi: 'scsi-hd', ide: 'ide-hd' } as const;
const NICS = {
  virtio: 'virtio-net-pci',
  e1000: 'e1000',
  e1000e: 'e1000e',
  rtl8139: 'rtl8139',
  ne2k_pci: 'ne2k_pci',
  pcnet: 'pcnet',
  vmxnet3: 'vmxnet3',
} as const;
const SCREENS = { vga: 'std', cirrus: 'cirrus', virtio: 'virtio', none: 'none' } as const;
const WATCHDOGS = { reset: 'reset', poweroff: 'poweroff', pause: 'pause', none: 'none', disabled: null } as const;

/** How disks are plugged in: the device of QEMU. */
export type DiskModel = (typeof BUSES)[keyof typeof BUSES];
/** What interfaces are: the device of QEMU. */
export type NicModel = (typeof NICS)[keyof typeof NICS];

/** How a machine differs from others of its size. */
export interface Tuning {
  readonly topology: CpuTopology | null;
  readonly machineType: string;
  /** Properties of the processor, beside its model. */
  readonly cpuProperties: readonly string[];
  readonly dedicated: boolean;
  readonly cpu: CpuLimits | null;
  /** Bytes of a huge page, `default` for those that the computer has; null: usual pages. */
  readonly pages: number | 'default' | null;
  readonly diskModel: DiskModel;
  readonly diskLimits: DiskLimits | null;
  readonly nicModel: NicModel;
  /** The source of random numbers: bytes that it gives in so many milliseconds; null: there is none. */
  readonly rng: { readonly bytes: number | undefined; readonly periodMs: number } | null;
  readonly watchdog: 'reset' | 'poweroff' | 'pause' | 'none' | null;
  readonly screen: (typeof SCREENS)[keyof typeof SCREENS];
  readonly tablet: boolean;
  readonly bootMenu: boolean;
}

const KIB = 1024;
const USUAL_PAGE = 4 * KIB;
const UNITS: Readonly<Record<string, number>> = { k: KIB, m: KIB ** 2, g: KIB ** 3, t: KIB ** 4 };
const PERIOD_US = 100_000;
const PERIOD_MS = 1_000;

/** What a word stands for; what nobody knows is what is usual. */
function oneOf<Table extends object, Usual>(table: Table, word: string | undefined, usual: Usual) {
  return word !== undefined && Object.hasOwn(table, word) ? table[word as keyof Table] : usual;
}

/** The topology that is asked for, completed; null where none is, or one that does not come out. */
function topologyOf(vcpus: number, option: MachineOptions): CpuTopology | null {
  const [sockets, cores, threads] = (['cpuSockets', 'cpuCores', 'cpuThreads'] as const).map((part) =>
    positive(option(part)),
  );
  if (sockets === undefined && cores === undefined && threads === undefined) return null;
  const rest = vcpus / ((sockets ?? 1) * (cores ?? 1) * (threads ?? 1));
  if (!Number.isInteger(rest)) return null;
  if (sockets === undefined) return { sockets: rest, cores: cores ?? 1, threads: threads ?? 1 };
  if (cores === undefined) return { sockets, cores: rest, threads: threads ?? 1 };
  if (threads === undefined) return { sockets, cores, threads: rest };
  return rest === 1 ? { sockets, cores, threads } : null;
}

/** `2MB`, `2048` (KiB), `1Gb` (of bits), `large`. */
function pagesOf(text: string | undefined): Tuning['pages'] {
  if (text === 'large') return 'default';
  const [, digits, unit = 'K', last = ''] = /^(\d{1,12})([kKMGT])?i?(b|bit|B)?$/.exec(text ?? '') ?? [];
  const bytes = (Number(digits) * (UNITS[unit.toLowerCase()] ?? 1)) / (last === 'b' || last === 'bit' ? 8 : 1);
  return bytes > USUAL_PAGE ? bytes : null;
}

/** QEMU takes a bound of both ways together, or of each. */
function diskLimitsOf(option: MachineOptions): DiskLimits | null {
  const bound = (name: Parameters<MachineOptions>[0]) => positive(option(name)) ?? 0;
  const pair = (total: number, read: number, write: number) => [read || write ? 0 : total, read, write] as const;
  const [bps, bps_rd, bps_wr] = pair(bound('diskTotalBytes'), bound('diskReadBytes'), bound('diskWriteBytes'));
  const [iops, iops_rd, iops_wr] = pair(bound('diskRequests'), bound('diskReads'), bound('diskWrites'));
  const limits = { bps, bps_rd, bps_wr, iops, iops_rd, iops_wr };
  return Object.values(limits).some((value) => value > 0) ? limits : null;
}

function cpuLimitsOf(vcpus: number, option: MachineOptions): CpuLimits | null {
  const [shares, quota] = [positive(option('cpuShares')), positive(option('cpuQuota'))];
  if (shares === undefined && quota === undefined) return null;
  const periodUs = positive(option('cpuPeriod')) ?? PERIOD_US;
  return { shares, quotaUs: quota === undefined ? undefined : quota * vcpus, periodUs };
}

function cpuPropertiesOf(option: MachineOptions): readonly string[] {
  const pmu = option('pmu');
  return [
    ...(isYes(option('hideHypervisor')) ? ['kvm=off'] : []),
    ...(pmu === undefined ? [] : [`pmu=${isYes(pmu) ? 'on' : 'off'}`]),
  ];
}

/** How the machine of a server is to be, by its flavor and its image. */
export function tuningOf(flavor: FlavorCopy, properties: Server['imageProperties']): Tuning {
  const option = machineOptionsOf(flavor, properties);
  const machineType = option('machineType') ?? '';
  const allowed = option('rngAllowed');
  return {
    topology: topologyOf(flavor.vcpus, option),
    machineType: /^pc-i440fx-\d{1,3}\.\d{1,3}$/.test(machineType) ? machineType : 'pc',
    cpuProperties: cpuPropertiesOf(option),
    dedicated: option('cpuPolicy') === 'dedicated',
    cpu: cpuLimitsOf(flavor.vcpus, option),
    pages: pagesOf(option('pageSize')),
    diskModel: oneOf(BUSES, option('diskBus'), BUSES.virtio),
    diskLimits: diskLimitsOf(option),
    nicModel: oneOf(NICS, option('nicModel'), NICS.virtio),
    rng:
      allowed !== undefined && !isYes(allowed)
        ? null
        : { bytes: positive(option('rngBytes')), periodMs: positive(option('rngPeriod')) ?? PERIOD_MS },
    watchdog: oneOf(WATCHDOGS, option('watchdog'), null),
    screen: oneOf(SCREENS, option('video'), SCREENS.vga),
    tablet: option('pointer') === 'usbtablet',
    bootMenu: isYes(option('bootMenu')),
  };
}
