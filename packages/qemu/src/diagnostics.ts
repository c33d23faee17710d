import { readFile, stat } from 'node:fs/promises';
import type { Server } from '@apistrata/compute-engine';
import type { Diagnostics } from '@apistrata/compute-engine/drivers';
import type { Host } from './host.js';
import type { MachineFolder } from './machine/machine-folder.js';
import { findProcess } from './machine/machine-process.js';
import type { QmpClient } from './qmp/qmp-client.js';

/** Nanoseconds per clock tick: Linux reports CPU times in `/proc` in hundredths of a second. */
const NS_PER_TICK = 10_000_000;
const MIB = 2 ** 20;
/** Indexes of the user and system times among the fields after the command name in `/proc/PID/task/TID/stat`. */
const [USER_TIME, SYSTEM_TIME] = [11, 12];

interface BlockStatistics {
  readonly qdev?: string;
  readonly stats: Readonly<Record<string, number>>;
}

/** The power states in server diagnostics, by QEMU run state. */
const POWER_STATES: Readonly<Record<string, string>> = {
  running: 'running',
  paused: 'paused',
  suspended: 'suspended',
  'guest-panicked': 'crashed',
  'internal-error': 'crashed',
  shutdown: 'shutdown',
};

async function readCpuTimes(folder: MachineFolder, qmp: QmpClient) {
  const pid = await findProcess(folder);
  const cpus = await qmp.execute<{ 'cpu-index': number; 'thread-id': number }[]>('query-cpus-fast');
  return Promise.all(
    cpus.map(async ({ 'cpu-index': id, 'thread-id': thread }) => {
      const line = await readFile(`/proc/${pid}/task/${thread}/stat`, 'utf8').catch(() => '');
      const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
      const ticks = Number(fields[USER_TIME]) + Number(fields[SYSTEM_TIME]);
      return { id, timeNs: Number.isFinite(ticks) ? ticks * NS_PER_TICK : null, utilisation: null };
    }),
  );
}

/** Returns a disk's device name in the API: `vda`, `vdb` and so on, in the guest's order. */
function diskName(index: number): string {
  return `vd${String.fromCharCode('a'.charCodeAt(0) + index)}`;
}

async function readDiskCounters(qmp: QmpClient) {
  const statistics = await qmp.execute<BlockStatistics[]>('query-blockstats');
  return statistics
    .filter(({ qdev = '' }) => qdev !== '' && !qdev.includes('config-2'))
    .map(({ stats }, index) => ({
      name: diskName(index),
      readBytes: stats.rd_bytes ?? 0,
      readRequests: stats.rd_operations ?? 0,
      writeBytes: stats.wr_bytes ?? 0,
      writeRequests: stats.wr_operations ?? 0,
      errors: (stats.failed_rd_operations ?? 0) + (stats.failed_wr_operations ?? 0),
    }));
}

/** Memory statistics from the guest's balloon driver. Unknown values are the largest 64-bit number. */
interface BalloonStatistics {
  readonly 'last-update': number;
  readonly stats: { readonly 'stat-total-memory': number; readonly 'stat-available-memory': number };
}

/** Returns the memory that the guest uses, in bytes; if the guest does not report it, the machine's total memory. */
async function readUsedMemory(qmp: QmpClient, memoryBytes: number): Promise<number> {
  const { actual } = await qmp.execute<{ actual: number }>('query-balloon').catch(() => ({ actual: memoryBytes }));
  const statsProperty = { path: '/machine/peripheral/balloon', property: 'guest-stats' };
  const balloonStatistics = await qmp.execute<BalloonStatistics>('qom-get', statsProperty).catch(() => undefined);
  if (!balloonStatistics?.['last-update']) return actual;
  const { 'stat-total-memory': total, 'stat-available-memory': available } = balloonStatistics.stats;
  return total <= memoryBytes && available <= total ? total - available : actual;
}

/** Returns the diagnostics of a server's machine as reported by QEMU; null while the machine is off. */
export async function diagnosticsOf(host: Host, server: Server): Promise<Diagnostics | null> {
  const { folder } = host.machine(server);
  const qmp = await host.machine(server).connectIfRunning();
  if (!qmp) return null;
  const [{ status }, cpus, disks, nics, usedBytes, { mtimeMs }] = await Promise.all([
    qmp.execute<{ status: string }>('query-status'),
    readCpuTimes(folder, qmp),
    readDiskCounters(qmp),
    host.networks.counters(server),
    readUsedMemory(qmp, server.flavor.memoryMb * MIB),
    stat(folder.file('pid')),
  ]);
  return {
    state: POWER_STATES[status] ?? 'pending',
    driver: 'libvirt',
    hypervisor: host.parts.acceleration === 'kvm' ? 'kvm' : 'qemu',
    hypervisorOs: 'linux',
    uptimeSeconds: Math.max(0, Math.floor((Date.now() - mtimeMs) / 1000)),
    configDrive: true,
    cpus,
    nics,
    disks,
    memoryMaximumMb: server.flavor.memoryMb,
    memoryUsedMb: Math.round(usedBytes / MIB),
  };
}
