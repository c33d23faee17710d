import type { HostStatistics } from '@apistrata/compute-engine/hosts';
import type { GuestFigures, GuestStatistics } from '@apistrata/compute-engine/observation';
import { Gauge, type Registry } from 'prom-client';
import { type SampledMetric, sampledMetrics, sampleOf } from './sampled-metrics.js';

const NS_PER_SECOND = 1e9;
const BYTES_PER_MIB = 2 ** 20;
const NO_STATISTICS: GuestStatistics = { guests: [], unresponsive: 0 };

type Disk = GuestFigures['disks'][number];
type Nic = GuestFigures['nics'][number];

const diskMetric = (name: string, help: string, value: (disk: Disk) => number): SampledMetric<GuestFigures> => ({
  name: `apistrata_guest_disk_${name}_total`,
  help,
  labels: ['device'],
  isCounter: true,
  samples: ({ disks }) => disks.map((disk) => [{ device: disk.name }, value(disk)]),
});

const nicMetric = (name: string, help: string, value: (nic: Nic) => number): SampledMetric<GuestFigures> => ({
  name: `apistrata_guest_network_${name}_total`,
  help,
  labels: ['mac'],
  isCounter: true,
  samples: ({ nics }) => nics.map((nic) => [{ mac: nic.macAddress }, value(nic)]),
});

const GUEST_METRICS: readonly SampledMetric<GuestFigures>[] = [
  {
    name: 'apistrata_guest_info',
    help: 'Always 1. The labels contain the name and the project of a running guest',
    labels: ['name', 'project'],
    samples: ({ server: { name, projectId } }) => [[{ name, project: projectId }, 1]],
  },
  {
    name: 'apistrata_guest_cpu_seconds_total',
    help: 'CPU time that a guest has used, summed over its processors',
    isCounter: true,
    samples: ({ cpus }) => [[{}, cpus.reduce((sum, { timeNs }) => sum + (timeNs ?? 0), 0) / NS_PER_SECOND]],
  },
  {
    name: 'apistrata_guest_cpus',
    help: 'Number of processors of a guest',
    samples: ({ cpus }) => [[{}, cpus.length]],
  },
  {
    name: 'apistrata_guest_memory_bytes',
    help: 'Total memory of a guest',
    samples: ({ memoryMaximumMb }) => sampleOf(memoryMaximumMb, BYTES_PER_MIB),
  },
  {
    name: 'apistrata_guest_memory_used_bytes',
    help: 'Memory that a guest uses, as reported by its balloon device; without a report, its total memory',
    samples: ({ memoryUsedMb }) => sampleOf(memoryUsedMb, BYTES_PER_MIB),
  },
  diskMetric('read_bytes', 'Bytes that a guest read from a disk', ({ readBytes }) => readBytes),
  diskMetric('written_bytes', 'Bytes that a guest wrote to a disk', ({ writeBytes }) => writeBytes),
  diskMetric('reads', 'Disk read requests of a guest', ({ readRequests }) => readRequests),
  diskMetric('writes', 'Disk write requests of a guest', ({ writeRequests }) => writeRequests),
  diskMetric('errors', 'Failed disk requests of a guest', ({ errors }) => errors),
  nicMetric('receive_bytes', 'Bytes that a guest interface received', ({ rxBytes }) => rxBytes),
  nicMetric('transmit_bytes', 'Bytes that a guest interface sent', ({ txBytes }) => txBytes),
  nicMetric('receive_drop', 'Packets to a guest interface that were dropped', ({ rxDrop }) => rxDrop),
  nicMetric('transmit_drop', 'Packets from a guest interface that were dropped', ({ txDrop }) => txDrop),
];

/**
 * Adds metrics for the guests that this process runs. Their values are read at each scrape. A guest has time series
 * only while it runs, so the host's capacity limits their number.
 */
export function guestMetrics(register: Registry, statistics: Pick<HostStatistics, 'guests'>): void {
  // All metrics in a scrape share one round of queries.
  const readGuests = () => statistics.guests().catch(() => NO_STATISTICS);
  sampledMetrics(register, {
    metrics: GUEST_METRICS,
    label: 'server',
    read: async () => (await readGuests()).guests.map((guest) => [guest.server.id, guest]),
  });
  new Gauge({
    name: 'apistrata_guests_unresponsive',
    help: 'Machines whose statistics could not be read within two seconds',
    registers: [register],
    aggregator: 'max',
    async collect() {
      this.set((await readGuests()).unresponsive);
    },
  });
}
