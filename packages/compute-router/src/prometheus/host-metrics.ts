import type { HostFigures, HostStatistics } from '@apistrata/compute-engine/hosts';
import type { GuestStatistics } from '@apistrata/compute-engine/observation';
import type { Registry } from 'prom-client';
import { type Sample, type SampledMetric, sampledMetrics, sampleOf } from './sampled-metrics.js';

const SECONDS_PER_MS = 1 / 1000;

/** The periods over which load averages are computed, in minutes. */
const LOAD_PERIODS_MINUTES = ['1', '5', '15'];

/** The guest states that are reported even if their count is 0. */
const INITIAL_COUNTS = { running: 0, paused: 0 };

/** The statistics of a host and its guests. */
interface HostAndGuestStatistics extends HostFigures {
  /** Guest statistics, or undefined if they could not be read. */
  readonly guests: GuestStatistics | undefined;
}

type Interface = HostFigures['computer']['interfaces'][number];

const networkMetric = (
  name: string,
  help: string,
  value: (found: Interface) => number,
): SampledMetric<HostAndGuestStatistics> => ({
  name: `apistrata_host_network_${name}_bytes_total`,
  help,
  labels: ['device'],
  isCounter: true,
  samples: ({ computer }) => computer.interfaces.map((found): Sample => [{ device: found.name }, value(found)]),
});

type Report = NonNullable<HostFigures['report']>;

const spaceMetric = (
  name: string,
  help: string,
  bytes: (report: Report) => number | undefined,
): SampledMetric<HostAndGuestStatistics> => ({
  name: `apistrata_host_${name}_bytes`,
  help,
  samples: ({ report }) => sampleOf(report && bytes(report)),
});

/** Counts guests by state. A guest that does not respond has the state `unknown`. */
function countByState({ guests, unresponsive }: GuestStatistics): Readonly<Record<string, number>> {
  const counts: Record<string, number> = { ...INITIAL_COUNTS, unknown: unresponsive };
  for (const { state } of guests) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
}

const HOST_METRICS: readonly SampledMetric<HostAndGuestStatistics>[] = [
  {
    name: 'apistrata_host_ready',
    help: '1 if servers can start on this host, otherwise 0',
    samples: ({ report }) => sampleOf(report && Number(report.problem === null)),
  },
  {
    name: 'apistrata_host_guests',
    help: 'Guests on a host, by state',
    labels: ['state'],
    samples: ({ guests }) => (guests ? Object.entries(countByState(guests)).map(([state, n]) => [{ state }, n]) : []),
  },
  {
    name: 'apistrata_host_cpus',
    help: 'Number of processors in the computer',
    samples: ({ computer }) => sampleOf(computer.cpus),
  },
  {
    name: 'apistrata_host_cpu_seconds_total',
    help: 'CPU time that the computer has used, by mode, summed over all processors',
    labels: ['mode'],
    isCounter: true,
    samples: ({ computer }) => Object.entries(computer.cpuSeconds ?? {}).map(([mode, seconds]) => [{ mode }, seconds]),
  },
  {
    name: 'apistrata_host_load_average',
    help: 'Load average of the computer over the number of minutes in the label',
    labels: ['minutes'],
    samples: ({ computer }) =>
      LOAD_PERIODS_MINUTES.flatMap((minutes, index) =>
        sampleOf(computer.loadAverages?.[index]).map(([, value]): Sample => [{ minutes }, value]),
      ),
  },
  {
    name: 'apistrata_host_memory_bytes',
    help: 'Total memory of the computer',
    samples: ({ computer }) => sampleOf(computer.memory?.totalBytes),
  },
  {
    name: 'apistrata_host_memory_available_bytes',
    help: 'Memory that programs on the computer can still allocate without swapping',
    samples: ({ computer }) => sampleOf(computer.memory?.availableBytes),
  },
  spaceMetric('disk', 'Size of the file system that stores guest disks', ({ disk }) => disk?.totalBytes),
  spaceMetric('disk_free', 'Free space on the file system that stores guest disks', ({ disk }) => disk?.freeBytes),
  spaceMetric(
    'disk_promised',
    'Additional space that existing guest disks can occupy as they grow',
    ({ disk }) => disk?.promisedBytes,
  ),
  spaceMetric('volumes', 'Size of the storage of volumes on this host', ({ volumes }) => volumes?.totalBytes),
  spaceMetric('volumes_free', 'Free space of the storage of volumes', ({ volumes }) => volumes?.freeBytes),
  spaceMetric(
    'volumes_allocated',
    'Space that volumes and their snapshots occupy',
    ({ volumes }) => volumes?.allocatedBytes,
  ),
  networkMetric('receive', 'Bytes that a physical interface received', ({ receivedBytes }) => receivedBytes),
  networkMetric('transmit', 'Bytes that a physical interface sent', ({ transmittedBytes }) => transmittedBytes),
  {
    name: 'apistrata_host_heartbeat_age_seconds',
    help: 'Time since a host process stored its last heartbeat',
    samples: ({ process }) => sampleOf(process?.heartbeatAgeMs, SECONDS_PER_MS),
  },
  {
    name: 'apistrata_host_lease_seconds',
    help: 'Remaining time of the lease that a host process holds on its host name',
    samples: ({ process }) => sampleOf(process?.leaseMs, SECONDS_PER_MS),
  },
  {
    name: 'apistrata_host_fenced',
    help: '1 if a host process stopped or paused its machines because it could not store a heartbeat, otherwise 0',
    samples: ({ process }) => sampleOf(process && Number(process.fenced)),
  },
  {
    name: 'apistrata_host_fences_total',
    help: 'Number of times that a host process stopped or paused its machines because it could not store a heartbeat',
    isCounter: true,
    samples: ({ process }) => sampleOf(process?.fences),
  },
];

/** Adds metrics for the host whose machines this process runs. They are read at each scrape. */
export function hostMetrics(register: Registry, statistics: HostStatistics): void {
  let pendingStatistics: Promise<readonly (readonly [string, HostAndGuestStatistics])[]> | undefined;
  const readStatistics = async (): Promise<readonly (readonly [string, HostAndGuestStatistics])[]> => {
    // Host and guest statistics are requested in the same tick, so that they share one round of queries.
    const [figures, guests] = await Promise.all([statistics.host(), statistics.guests().catch(() => undefined)]);
    return figures === undefined ? [] : [[figures.name, { ...figures, guests }]];
  };
  // All metrics in a scrape share one set of statistics.
  const readStatisticsOnce = () => {
    pendingStatistics ??= readStatistics()
      .catch(() => [])
      .finally(() => {
        pendingStatistics = undefined;
      });
    return pendingStatistics;
  };
  sampledMetrics(register, { metrics: HOST_METRICS, label: 'host', read: readStatisticsOnce });
}
