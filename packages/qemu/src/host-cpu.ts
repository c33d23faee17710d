import { readdir, readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import type { CpuInfo } from '@apistrata/compute-engine/api';
import type { Acceleration } from './programs/acceleration.js';
import { type RunAs, runProgram } from './programs/run-program.js';

const QUERY_MS = 10_000;

/** Names of vendors in the compute API. */
const VENDORS: Readonly<Record<string, string>> = {
  GenuineIntel: 'Intel',
  AuthenticAMD: 'AMD',
  HygonGenuine: 'Hygon',
};

/** Features of the hypervisor, which QEMU lists with those of the processor. */
const HYPERVISOR_FEATURE = /^(kvm|hv-)/;

/** Returns the value of a field of the first processor in the text of `/proc/cpuinfo`; 1 if it is missing. */
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

/** Parses the responses of QEMU to the query of a CPU model. Aliases of features are not included. */
export function cpuModel(responses: string): Omit<CpuInfo, 'topology'> {
  const lines = responses.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []));
  const props: Readonly<Record<string, unknown>> | undefined = lines.find((line) => line.return?.model)?.return.model
    .props;
  if (!props) throw new Error(`QEMU does not report the CPU model: ${responses.slice(0, 1_000)}`);
  const { vendor, 'model-id': model } = props;
  const features = Object.keys(props).filter((name) => props[name] === true && !HYPERVISOR_FEATURE.test(name));
  return {
    arch: 'x86_64',
    model: String(model),
    vendor: VENDORS[String(vendor)] ?? String(vendor),
    features: features.sort(),
  };
}

/** Queries the CPU that guests see: with KVM that of this computer, otherwise the one that QEMU emulates. */
async function queryModel(program: string, acceleration: Acceleration, runAs: RunAs | undefined): Promise<string> {
  const model = { name: acceleration === 'kvm' ? 'host' : 'max' };
  const commands = [
    { execute: 'qmp_capabilities' },
    { execute: 'query-cpu-model-expansion', arguments: { type: 'static', model } },
    { execute: 'quit' },
  ];
  const args = ['-nodefaults', '-no-user-config', '-machine', `none,accel=${acceleration}`, '-display', 'none', '-S'];
  return runProgram(program, [...args, '-qmp', 'stdio'], {
    runAs,
    timeoutMs: QUERY_MS,
    input: commands.map((command) => `${JSON.stringify(command)}\n`).join(''),
  });
}

/** Detects the processors of this computer as a host: model and features of those that guests see, and its topology. */
export async function hostCpu(host: {
  readonly program: string;
  readonly acceleration: Acceleration;
  readonly runAs: RunAs | undefined;
}): Promise<CpuInfo> {
  const [responses, cpuinfo, nodes] = await Promise.all([
    queryModel(host.program, host.acceleration, host.runAs),
    readFile('/proc/cpuinfo', 'utf8').catch(() => ''),
    readdir('/sys/devices/system/node').catch(() => []),
  ]);
  const cells = Math.max(1, nodes.filter((name) => /^node\d+$/.test(name)).length);
  return { ...cpuModel(responses), topology: cpuTopology(cpuinfo, cells, availableParallelism()) };
}
