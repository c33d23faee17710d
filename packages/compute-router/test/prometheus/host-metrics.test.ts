import type { HostFigures, HostStatistics } from '@apistrata/compute-engine/hosts';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { prometheusHostMetrics } from '../../src/prometheus/index.js';

const full: HostFigures = {
  name: 'h1',
  computer: {
    cpus: 4,
    cpuSeconds: { user: 12.5, nice: 0, system: 3, idle: 80, iowait: 0.5, irq: 0, softirq: 0, steal: 0 },
    loadAverages: [0.5, 1.25, 2],
    memory: { totalBytes: 64, availableBytes: 32 },
    interfaces: [{ name: 'eth0', receivedBytes: 7, transmittedBytes: 8 }],
  },
  report: {
    problem: null,
    disk: { totalBytes: 1_000, freeBytes: 600, promisedBytes: 200 },
    volumes: { backend: 'lvm', totalBytes: 500, freeBytes: 300, allocatedBytes: 100 },
  },
  process: { heartbeatAgeMs: 1_500, leaseMs: 8_250, fenced: true, fences: 2 },
};

const NOTHING = { cpus: undefined, cpuSeconds: undefined, loadAverages: undefined, memory: undefined, interfaces: [] };

const noGuests: HostStatistics['guests'] = async () => ({ guests: [], unresponsive: 0 });

function metricsOf(figures: () => HostFigures | undefined, guests = noGuests) {
  let readings = 0;
  const host = async () => {
    readings++;
    return figures();
  };
  const { register, scrape } = prometheusHostMetrics({ register: new Registry() });
  scrape({ statistics: { host, guests } });
  const samples = async () =>
    (await register.metrics()).split('\n').filter((line) => line.startsWith('apistrata_host_'));
  return { samples, readings: () => readings };
}

it('metrics of a host have base units and one reading for each scrape', async () => {
  const { samples, readings } = metricsOf(() => full);
  const expected = [
    'apistrata_host_ready{host="h1"} 1',
    'apistrata_host_guests{host="h1",state="running"} 0',
    'apistrata_host_guests{host="h1",state="paused"} 0',
    'apistrata_host_guests{host="h1",state="unknown"} 0',
    'apistrata_host_cpus{host="h1"} 4',
    'apistrata_host_cpu_seconds_total{host="h1",mode="user"} 12.5',
    'apistrata_host_cpu_seconds_total{host="h1",mode="nice"} 0',
    'apistrata_host_cpu_seconds_total{host="h1",mode="system"} 3',
    'apistrata_host_cpu_seconds_total{host="h1",mode="idle"} 80',
    'apistrata_host_cpu_seconds_total{host="h1",mode="iowait"} 0.5',
    'apistrata_host_cpu_seconds_total{host="h1",mode="irq"} 0',
    'apistrata_host_cpu_seconds_total{host="h1",mode="softirq"} 0',
    'apistrata_host_cpu_seconds_total{host="h1",mode="steal"} 0',
    'apistrata_host_load_average{host="h1",minutes="1"} 0.5',
    'apistrata_host_load_average{host="h1",minutes="5"} 1.25',
    'apistrata_host_load_average{host="h1",minutes="15"} 2',
    'apistrata_host_memory_bytes{host="h1"} 64',
    'apistrata_host_memory_available_bytes{host="h1"} 32',
    'apistrata_host_disk_bytes{host="h1"} 1000',
    'apistrata_host_disk_free_bytes{host="h1"} 600',
    'apistrata_host_disk_promised_bytes{host="h1"} 200',
    'apistrata_host_volumes_bytes{host="h1"} 500',
    'apistrata_host_volumes_free_bytes{host="h1"} 300',
    'apistrata_host_volumes_allocated_bytes{host="h1"} 100',
    'apistrata_host_network_receive_bytes_total{host="h1",device="eth0"} 7',
    'apistrata_host_network_transmit_bytes_total{host="h1",device="eth0"} 8',
    'apistrata_host_heartbeat_age_seconds{host="h1"} 1.5',
    'apistrata_host_lease_seconds{host="h1"} 8.25',
    'apistrata_host_fenced{host="h1"} 1',
    'apistrata_host_fences_total{host="h1"} 2',
  ];
  expect(await samples()).toEqual(expected);
  expect(await samples()).toEqual(expected);
  expect(readings()).toBe(2);
});

it('metrics of a host count its guests by state, and those that do not respond', async () => {
  const states = ['running', 'crashed', 'running'];
  const guests = (async () => ({
    guests: states.map((state) => ({ state, ...{ cpus: [], disks: [], nics: [], server: { id: 'x' } } })),
    unresponsive: 5,
  })) as unknown as HostStatistics['guests'];
  const { samples } = metricsOf(() => full, guests);
  expect((await samples()).filter((line) => line.includes('_guests'))).toEqual([
    'apistrata_host_guests{host="h1",state="running"} 2',
    'apistrata_host_guests{host="h1",state="paused"} 0',
    'apistrata_host_guests{host="h1",state="unknown"} 5',
    'apistrata_host_guests{host="h1",state="crashed"} 1',
  ]);
});

it('metrics of a host omit what is unknown', async () => {
  let figures: HostFigures | undefined = {
    ...{ name: 'h1', computer: NOTHING, report: { problem: 'no bridges' }, process: undefined },
  };
  const guests = async () => {
    throw new Error('gone');
  };
  const { samples } = metricsOf(() => figures, guests);
  expect(await samples()).toEqual(['apistrata_host_ready{host="h1"} 0']);
  figures = { ...figures, report: undefined };
  expect(await samples()).toEqual([]);
  figures = undefined;
  expect(await samples()).toEqual([]);
});

it('metrics of a host are omitted if it cannot be read', async () => {
  const { samples } = metricsOf(() => {
    throw new Error('gone');
  });
  expect(await samples()).toEqual([]);
});

it('metrics of a host process contain none of an API', async () => {
  const { register, scrape } = prometheusHostMetrics();
  scrape({ statistics: { host: async () => full, guests: noGuests } });
  const names = register.getMetricsAsArray().map(({ name }) => name);
  expect(
    names.filter((name) => !/^(?:apistrata_(?:host|guests?|statement|database|commit)|process|nodejs)_/.test(name)),
  ).toEqual([]);
  expect(names).toContain('process_cpu_seconds_total');
});
