import { readdir, readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import type { CpuInfo } from '@apistrata/compute-engine/api';
import { type CpuProperties, featuresOf } from './cpu/guest-cpu.js';

/** The compute API's names for CPU vendors, by the processor's vendor string. */
const VENDOR_NAMES: Readonly<Record<string, string>> = {
  GenuineIntel: 'Intel',
  AuthenticAMD: 'AMD',
  HygonGenuine: 'Hygon',
};

/** Matches features of the hypervisor, which QEMU lists together with the features of the processor. */
const HYPERVISOR_FEATURE_PATTERN = /^(kvm|hv-)/;

/** Returns a numeric field from the first processor's entry in `/proc/cpuinfo`; 1 if the field is missing. */
function readCount(cpuinfo: string, field: string): number {
  return Number(new RegExp(`^${field}\\s*:\\s*(\\d+)$`, 'm').exec(cpuinfo)?.[1] ?? 1);
}

/**
 * Returns a computer's CPU topology.
 * @param cpuinfo the content of `/proc/cpuinfo`
 * @param cells the number of NUMA cells
 * @param processors the number of processors, used if `cpuinfo` contains no topology
 */
export function parseCpuTopology(cpuinfo: string, cells: number, processors: number): CpuInfo['topology'] {
  const sockets = new Set([...cpuinfo.matchAll(/^physical id\s*:\s*(\d+)$/gm)].map(([, id]) => id)).size;
  if (sockets === 0) return { cells, sockets: 1, cores: processors, threads: 1 };
  const cores = readCount(cpuinfo, 'cpu cores');
  const threads = Math.max(1, Math.floor(readCount(cpuinfo, 'siblings') / cores));
  return { cells, sockets: Math.max(1, Math.floor(sockets / cells)), cores, threads };
}

/** Returns the compute API's description of a guest CPU, without feature aliases. */
export function describeCpu(properties: CpuProperties): Omit<CpuInfo, 'topology'> {
  const { vendor, 'model-id': model } = properties;
  return {
    arch: 'x86_64',
    model: String(model),
    vendor: VENDOR_NAMES[String(vendor)] ?? String(vendor),
    features: featuresOf(properties).filter((name) => !HYPERVISOR_FEATURE_PATTERN.test(name)),
  };
}

/**
 * Returns this host's CPU information for the compute API: the model and features that guests see, and the topology.
 * @param properties the properties of the guest CPU
 */
export async function detectHostCpu(properties: CpuProperties): Promise<CpuInfo> {
  const [cpuinfo, nodes] = await Promise.all([
    readFile('/proc/cpuinfo', 'utf8').catch(() => ''),
    readdir('/sys/devices/system/node').catch(() => []),
  ]);
  const cells = Math.max(1, nodes.filter((name) => /^node\d+$/.test(name)).length);
  return { ...describeCpu(properties), topology: parseCpuTopology(cpuinfo, cells, availableParallelism()) };
}
