import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { freshDatabase } from '../../../../testing/fresh-database.js';
import type { Server } from '../../src/model/index.js';
import { admin, HostCloud } from './host-cloud.js';

const postgresUrl = inject('postgresUrl');
const HOSTS = ['h1', 'h2', 'h3'] as const;
const STEP_MS = 150;

/** What is asked for, and how the server is when that has come to its end. */
interface Deed {
  readonly name: string;
  /** Brings a server to where it begins; gives its id. */
  readonly before: (cloud: HostCloud) => Promise<string>;
  readonly begin: (cloud: HostCloud, id: string) => Promise<unknown>;
  readonly state: Partial<Server>;
  /** How many hosts have a machine of it in the end. */
  readonly machines: number;
  /** Orders that are under way one after the other, at the least. */
  readonly steps: number;
}

const alive = async (cloud: HostCloud) => (await cloud.settled((await cloud.create('h1')).id)).id;
const resize = ({ engine }: HostCloud, id: string) => engine.servers.act(admin(), id, 'resize', { flavorId: '2' });
const running = { vmState: 'active', powerState: 1 } as const;

const deeds: readonly Deed[] = [
  { name: 'resize', before: alive, begin: resize, state: { vmState: 'resized', powerState: 1 }, machines: 2, steps: 4 },
  {
    name: 'confirmation of a resize',
    async before(cloud) {
      const id = await alive(cloud);
      await resize(cloud, id);
      return (await cloud.settled(id)).id;
    },
    begin: ({ engine }, id) => engine.servers.act(admin(), id, 'confirmResize'),
    state: running,
    machines: 1,
    steps: 1,
  },
  {
    name: 'live migration',
    before: alive,
    begin: ({ engine }, id) => engine.servers.act(admin(), id, 'os-migrateLive', { checkedFirst: false }),
    state: running,
    machines: 1,
    steps: 4,
  },
  {
    name: 'snapshot',
    before: alive,
    begin: ({ engine }, id) => engine.servers.act(admin(), id, 'createImage', { name: 'copy', limitMetadata: false }),
    state: running,
    machines: 1,
    steps: 4,
  },
];

const needsPostgres = describe.skipIf(!postgresUrl);

/** Three hosts, and who is killed and started again. */
class Killing {
  readonly cloud: HostCloud;
  readonly #folder: string;
  readonly #hosts = new Map<string, ChildProcess>();

  private constructor(cloud: HostCloud, folder: string) {
    this.cloud = cloud;
    this.#folder = folder;
  }

  static async open(works: boolean): Promise<Killing> {
    const folder = await mkdtemp(join(tmpdir(), 'apistrata-killed-hosts-'));
    const killing = new Killing(await HostCloud.open(await freshDatabase(postgresUrl), folder, works), folder);
    await Promise.all(HOSTS.map((name) => killing.start(name)));
    return killing;
  }

  async start(host: string): Promise<void> {
    this.#hosts.set(host, await this.cloud.start(host, STEP_MS));
  }

  /** Hosts that have a machine of a server. */
  whereabouts(id: string): readonly string[] {
    return HOSTS.filter((name) => this.cloud.machinesOn(name).includes(id));
  }

  /** Kills whoever has begun the n-th order from now on, while it is under way; undefined when there were not so many. */
  async killAt(n: number, id: string): Promise<string | undefined> {
    const seen = new Set<string>();
    for (;;) {
      for (const { id: order, host, begun_by, answered_at } of await this.cloud.orders()) {
        if (seen.has(order) || begun_by === null || answered_at !== null) continue;
        seen.add(order);
        if (seen.size < n) continue;
        await this.cloud.kill(this.#hosts.get(host)!);
        return host;
      }
      if ((await this.cloud.see(id)).jobId === null) return undefined;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  async close(): Promise<void> {
    await this.cloud.close();
    await rm(this.#folder, { recursive: true });
  }
}

needsPostgres('a host that is a process, killed in the middle of work', { timeout: 180_000 }, () => {
  let killing: Killing;
  beforeAll(async () => {
    killing = await Killing.open(true);
  }, 60_000);
  afterAll(() => killing.close());

  /** Kills in each step of it, with a server of its own each time. */
  async function killInEachStep(
    begin: () => Promise<string>,
    { state, machines, steps }: Omit<Deed, 'name' | 'before' | 'begin'>,
  ) {
    const { cloud } = killing;
    for (let step = 1; ; step++) {
      const id = await begin();
      const killed = await killing.killAt(step, id);
      if (killed) await killing.start(killed);
      const server = await cloud.settled(id);
      expect([server.fault, server]).toMatchObject([null, { ...state, taskState: null }]);
      await cloud.until(async () => killing.whereabouts(id).length === machines);
      expect(killing.whereabouts(id)).toContain(server.host);
      expect(new Set(server.claims.map(({ host }) => host)).size).toBe(machines);
      if (killed) continue;
      expect(step).toBeGreaterThan(steps);
      expect(await cloud.orders()).toEqual([]);
      return;
    }
  }

  it('loses, doubles and leaves half done nothing of a create', () =>
    killInEachStep(async () => (await killing.cloud.create('h1')).id, {
      state: { ...running, host: 'h1' },
      machines: 1,
      steps: 3,
    }));

  it.each(deeds)('loses, doubles and leaves half done nothing of a $name', ({ before, begin, ...after }) =>
    killInEachStep(async () => {
      const id = await before(killing.cloud);
      await begin(killing.cloud, id);
      return id;
    }, after),
  );
});

needsPostgres('a process that serves, killed while a host works for it', { timeout: 120_000 }, () => {
  // The host finds what the dead process requested, and what its successor requests, at the same moment.
  it('has a successor whose requests come first, where the host was killed, too', async () => {
    const killing = await Killing.open(false);
    try {
      const { cloud } = killing;
      const serving = await cloud.start();
      const { id } = await cloud.create('h1');
      await killing.killAt(3, id);
      const [spawn] = await cloud.orders();
      expect(spawn).toMatchObject({ begun_by: expect.any(String), answered_at: null });
      await cloud.kill(serving);
      await cloud.start();
      await cloud.until(async () => (await cloud.orders()).some((order) => order.id !== spawn!.id));
      expect((await cloud.orders()).map((order) => order.id)).not.toContain(spawn!.id);
      await killing.start('h1');
      expect(await cloud.settled(id)).toMatchObject({ vmState: 'active', host: 'h1', fault: null });
      expect(killing.whereabouts(id)).toEqual(['h1']);
      expect(await cloud.orders()).toEqual([]);
    } finally {
      await killing.close();
    }
  });

  it('has a successor, who finds the order that it gave', async () => {
    const killing = await Killing.open(false);
    try {
      const { cloud } = killing;
      const serving = await cloud.start();
      const { id } = await cloud.create('h1');
      await cloud.until(async () => (await cloud.orders()).some(({ begun_by }) => begun_by !== null));
      const [before] = await cloud.orders();
      await cloud.kill(serving);
      await cloud.until(async () => (await cloud.orders()).some(({ answered_at }) => answered_at !== null));
      expect((await cloud.orders()).map((order) => order.id)).toEqual([before!.id]);
      await cloud.start();
      expect(await cloud.settled(id)).toMatchObject({ vmState: 'active', host: 'h1', fault: null });
      expect(killing.whereabouts(id)).toEqual(['h1']);
      expect(await cloud.orders()).toEqual([]);
    } finally {
      await killing.close();
    }
  });
});
