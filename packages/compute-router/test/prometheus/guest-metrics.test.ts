import { randomUUID } from 'node:crypto';
import { type Context, createEngine, type Engine } from '@apistrata/compute-engine';
import { type Diagnostics, SimulatedDriver } from '@apistrata/compute-engine/drivers';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { prometheusMetrics } from '../../src/prometheus/index.js';

/** The id of an image in the default preset. */
const IMAGE = '70a599e0-31e7-49b7-b260-868f441e862b';

const ada: Context = {
  caller: { userId: 'ada', projectId: 'p-ada', roles: ['member'] },
  requestId: `req-${randomUUID()}`,
  isAdmin: false,
};

const figures: Omit<Diagnostics, 'cpus'> = {
  ...{ state: 'running', driver: 'libvirt', hypervisor: 'qemu', hypervisorOs: 'linux', configDrive: true },
  ...{ uptimeSeconds: 5, memoryMaximumMb: 512, memoryUsedMb: null },
  nics: [
    {
      ...{ macAddress: 'fa:16:3e:00:00:01', rxBytes: 11, rxPackets: 1, rxErrors: 0, rxDrop: 3 },
      ...{ txBytes: 22, txPackets: 2, txErrors: 0, txDrop: 4 },
    },
  ],
  disks: [{ name: 'vda', readBytes: 33, readRequests: 5, writeBytes: 44, writeRequests: 6, errors: 7 }],
};

let engine: Engine;
/** The machines' responses by server id. A machine without a response is off. */
let responses: Map<string, () => Promise<Diagnostics>>;
let metrics: ReturnType<typeof prometheusMetrics>;
/** The ids of the servers that were queried, in order. */
let queries: string[];
let scrapes: number;

beforeEach(async () => {
  responses = new Map();
  queries = [];
  scrapes = 0;
  engine = await createEngine({
    driver: (clock) =>
      Object.assign(new SimulatedDriver({ clock }), {
        machines: async () => [...responses.keys()],
        diagnostics: async ({ id }: { id: string }) => {
          queries.push(id);
          return responses.get(id)?.() ?? null;
        },
      }),
  });
  metrics = prometheusMetrics({ register: new Registry() });
  metrics.scrape({ engine });
});
afterEach(() => engine.close());

async function create(name: string): Promise<string> {
  const { servers } = await engine.servers.create(ada, {
    name,
    flavorId: '1',
    imageId: IMAGE,
    networks: 'none',
  });
  await engine.idle();
  return servers[0]!.id;
}

const running = async (): Promise<Diagnostics> => ({
  ...figures,
  cpus: [
    { id: 0, timeNs: 1_500_000_000, utilisation: null },
    { id: 1, timeNs: 500_000_000, utilisation: null },
  ],
});

/**
 * Returns the guest samples from one scrape. On a busy machine, a scrape may miss a guest that the next one includes.
 */
async function scrape(): Promise<Readonly<Record<string, number>>> {
  scrapes++;
  const lines = (await metrics.register.metrics()).split('\n').filter((line) => /^apistrata_guest/.test(line));
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
  );
}

it('guest metrics report each running guest with its labels, in seconds and bytes, with one query per scrape', async () => {
  const id = await create('web');
  responses.set(id, running);
  const server = `server="${id}"`;
  const disk = `{${server},device="vda"}`;
  const nic = `{${server},mac="fa:16:3e:00:00:01"}`;
  await expect.poll(scrape).toEqual({
    [`apistrata_guest_info{${server},name="web",project="p-ada"}`]: 1,
    [`apistrata_guest_cpu_seconds_total{${server}}`]: 2,
    [`apistrata_guest_cpus{${server}}`]: 2,
    [`apistrata_guest_memory_bytes{${server}}`]: 512 * 2 ** 20,
    [`apistrata_guest_disk_read_bytes_total${disk}`]: 33,
    [`apistrata_guest_disk_written_bytes_total${disk}`]: 44,
    [`apistrata_guest_disk_reads_total${disk}`]: 5,
    [`apistrata_guest_disk_writes_total${disk}`]: 6,
    [`apistrata_guest_disk_errors_total${disk}`]: 7,
    [`apistrata_guest_network_receive_bytes_total${nic}`]: 11,
    [`apistrata_guest_network_transmit_bytes_total${nic}`]: 22,
    [`apistrata_guest_network_receive_drop_total${nic}`]: 3,
    [`apistrata_guest_network_transmit_drop_total${nic}`]: 4,
    apistrata_guests_unresponsive: 0,
  });
  expect(queries).toHaveLength(scrapes);
});

it('guest metrics end with the guest', async () => {
  const id = await create('web');
  responses.set(id, running);
  await expect.poll(async () => Object.keys(await scrape()).length).toBeGreaterThan(10);
  responses.delete(id);
  expect(await scrape()).toEqual({ apistrata_guests_unresponsive: 0 });
});

it('guest metrics omit a machine that hangs, query it once, and report the others', async () => {
  const [hanging, other] = [await create('hangs'), await create('other')];
  let respond = () => {};
  responses.set(hanging, () => new Promise((resolve) => (respond = () => void running().then(resolve))));
  responses.set(other, running);
  const expected = { apistrata_guests_unresponsive: 1, [`apistrata_guest_cpus{server="${other}"}`]: 2 };
  for (const round of [1, 2]) {
    await expect.poll(scrape, { message: `round ${round}` }).toMatchObject(expected);
    expect((await scrape())[`apistrata_guest_cpus{server="${hanging}"}`]).toBeUndefined();
  }
  expect(queries.filter((id) => id === hanging)).toHaveLength(1);
  responses.set(hanging, running);
  respond();
  await expect.poll(async () => (await scrape())[`apistrata_guest_cpus{server="${hanging}"}`]).toBe(2);
}, 60_000);
