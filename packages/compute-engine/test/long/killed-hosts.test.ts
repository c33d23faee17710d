import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { freshDatabase } from '../../../../testing/fresh-database.js';
import type { Server } from '../../src/model/index.js';
import { admin, HostCloud } from '../hosts/host-cloud.js';

const postgresUrl = inject('postgresUrl');
const HOSTS = ['h1', 'h2', 'h3'] as const;
const STEP_MS = 150;

/** An action, and the resulting state of the server. */
interface TestedOperation {
  readonly name: string;
  /** Creates a server in the initial state; returns its id. */
  readonly before: (cloud: HostCloud) => Promise<string>;
  readonly begin: (cloud: HostCloud, id: string) => Promise<unknown>;
  readonly state: Partial<Server>;
  /** Number of hosts that have a machine of the server at the end. */
  readonly machines: number;
  /** Minimum number of requests that the action sends one after another. */
  readonly steps: number;
}

const alive = async (cloud: HostCloud) => (await cloud.settled((await cloud.create('h1')).id)).id;
const resize = ({ engine }: HostCloud, id: string) => engine.servers.act(admin(), id, 'resize', { flavorId: '2' });
const running = { vmState: 'active', powerState: 1 } as const;

const operations: readonly TestedOperation[] = [
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

/** Three hosts that are killed and started again. */
class KillResult {
  readonly cloud: HostCloud;
  readonly #folder: string;
  readonly #hosts = new Map<string, ChildProcess>();

  private constructor(cloud: HostCloud, folder: string) {
    this.cloud = cloud;
    this.#folder = folder;
  }

  static async open(executesJobs: boolean): Promise<KillResult> {
    const folder = await mkdtemp(join(tmpdir(), 'apistrata-killed-hosts-'));
    const killing = new KillResult(
      await HostCloud.open(await freshDatabase(postgresUrl), folder, executesJobs),
      folder,
    );
    await Promise.all(HOSTS.map((name) => killing.start(name)));
    return killing;
  }

  async start(host: string): Promise<void> {
    this.#hosts.set(host, await this.cloud.start(host, STEP_MS));
  }

  /** Returns the hosts that have a machine of a server. */
  hostsOf(id: string): readonly string[] {
    return HOSTS.filter((name) => this.cloud.machinesOn(name).includes(id));
  }

  /** Kills the host that executes the n-th request from now on. Returns undefined if there were fewer requests. */
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

needsPostgres('a host process that is killed during its work', { timeout: 180_000 }, () => {
  let killing: KillResult;
  beforeAll(async () => {
    killing = await KillResult.open(true);
  }, 60_000);
  afterAll(() => killing.close());

  /** Kills the host in each step of an action, each time with a new server. */
  async function killInEachStep(
    begin: () => Promise<string>,
    { state, machines, steps }: Omit<TestedOperation, 'name' | 'before' | 'begin'>,
  ) {
    const { cloud } = killing;
    for (let step = 1; ; step++) {
      const id = await begin();
      const killed = await killing.killAt(step, id);
      if (killed) await killing.start(killed);
      const server = await cloud.settled(id);
      expect([server.fault, server]).toMatchObject([null, { ...state, taskState: null }]);
      await cloud.until(async () => killing.hostsOf(id).length === machines);
      expect(killing.hostsOf(id)).toContain(server.host);
      expect(new Set(server.claims.map(({ host }) => host)).size).toBe(machines);
      expect(await cloud.miscounted()).toBeUndefined();
      if (killed) continue;
      expect(step).toBeGreaterThan(steps);
      expect(await cloud.orders()).toEqual([]);
      return;
    }
  }

  it('neither loses nor duplicates any step of a create', () =>
    killInEachStep(async () => (await killing.cloud.create('h1')).id, {
      state: { ...running, host: 'h1' },
      machines: 1,
      steps: 3,
    }));

  it.each(operations)('neither loses nor duplicates any step of a $name', ({ before, begin, ...after }) =>
    killInEachStep(async () => {
      const id = await before(killing.cloud);
      await begin(killing.cloud, id);
      return id;
    }, after),
  );
});

needsPostgres('an API process that is killed while a host works for it', { timeout: 120_000 }, () => {
  // The host receives the requests of the dead process and of its successor at the same time.
  it('has a successor whose requests take precedence, even if the host was killed too', async () => {
    const killing = await KillResult.open(false);
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
      expect(killing.hostsOf(id)).toEqual(['h1']);
      expect(await cloud.miscounted()).toBeUndefined();
      expect(await cloud.orders()).toEqual([]);
    } finally {
      await killing.close();
    }
  });

  it('has a successor that finds its request', async () => {
    const killing = await KillResult.open(false);
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
      expect(killing.hostsOf(id)).toEqual(['h1']);
      expect(await cloud.miscounted()).toBeUndefined();
      expect(await cloud.orders()).toEqual([]);
    } finally {
      await killing.close();
    }
  });
});
