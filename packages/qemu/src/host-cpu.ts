import { readdir, readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import type { CpuInfo } from '@apistrata/compute-engine/api';
import { type CpuProperties, featuresOf } from './cpu/guest-cpu.js';

/** Names of vendors in the compute API. */
const VENDORS: Readonly<Record<string, string>> = {
  GenuineIntel: 'Intel',
  AuthenticAMD: 'AMD',
  HygonGenuine: 'Hygon',
};

/** Features of the hypervisor, which QEMU lists together with the processor's features. */
const HYPERVISOR_FEATURE = /^(kvm|hv-)/;

/** Returns the value of a field in the first processor's entry of `/proc/cpuinfo`; 1 if it is missing. */
function countIn(cpuinfo: string, field: string): number {
  return Number(new RegExp(`^${field}\\s*:\\s*(\\d+)$`, 'm').exec(cpuinfo)?.[1] ?? 1);
}

/**
 * Returns the topology of a computer.
 * @param cpuinfo the text of `/proc/cpuinfo`
 * @param cells the number of NUMA cells
 * @param processors the number of processors, for texts without a topology
 */
export function cpuTopology(cpuinfo: string, cells: number, processors: number): CpuInfo['topology'] {
  const sockets = new Set([...cpuinfo.matchAll(/^physical id\s*:\s*(\d+)$/gm)].map(([, id]) => id)).size;
  if (sockets === 0) return { cells, sockets: 1, cores: processors, threads: 1 };
  const cores = countIn(cpuinfo, 'cpu cores');
  const threads = Math.max(1, Math.floor(countIn(cpuinfo, 'siblings') / cores));
  return { cells, sockets: Math.max(1, Math.floor(sockets / cells)), cores, threads };
}

/** Describes a CPU that guests see. Aliases of features are not included. */
export function describeCpu(properties: CpuProperties): Omit<CpuInfo, 'topology'> {
  const { vendor, 'model-id': model } = properties;
  return {
    arch: 'x86_64',
    model: String(model),
    vendor: VENDORS[String(vendor)] ?? String(vendor),
    features: featuresOf(properties).filter((name) => !HYPERVISOR_FEATURE.test(name)),
  };
}

/**
 * Detects the processors of this computer as a host: model and features of those that guests see, and its topology.
 * @param properties the CPU of guests
 */
export async function hostCpu(properties: CpuProperties): Promise<CpuInfo> {
  const [cpuinfo, nodes] = await Promise.all([
    readFile('/proc/cpuinfo', 'utf8').catch(() => ''),
    readdir('/sys/devices/system/node').catch(() => []),
  ]);
  const cells = Math.max(1, nodes.filter((name) => /^node\d+$/.test(name)).length);
  return { ...describeCpu(properties), topology: cpuTopology(cpuinfo, cells, availableParallelism()) };
}
