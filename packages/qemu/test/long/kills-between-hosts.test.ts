import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Server } from '@apistrata/compute-engine';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';
import { missingForGuests } from '../guest/build-guest.js';
import { processesOf } from '../processes-of.js';
import { NOTHING } from '../qemu-cloud.js';
import { admin, BOOT, type HostOptions, QemuHosts } from '../qemu-hosts.js';

const postgresUrl = inject('postgresUrl');
const missing = missingForGuests() ?? (postgresUrl ? undefined : 'PostgreSQL');
if (missing) console.warn(`\n*** SKIPPED: kills in moves between hosts: this machine has no ${missing} ***\n`);

/** The expected state of the server after each action. */
const EXPECTED = {
  migrate: { vmState: 'resized', moved: true },
  resize: { vmState: 'resized', moved: true },
  confirmResize: { vmState: 'active', moved: false },
  revertResize: { vmState: 'active', moved: true },
} as const;

type Move = keyof typeof EXPECTED;

/** The role of a host in an action: `here` is the server's host when the action starts, `there` is the other host. */
type Role = 'here' | 'there';

/**
 * `EVERY_STEP=1` kills hosts after each of their steps. By default, some steps are skipped, because machines are slow.
 */
const { EVERY_STEP } = process.env;
const STRIDE = EVERY_STEP ? 1 : 4;

/** Cold migrations in both directions, and the host that is killed in each of them. */
const ROUNDS: readonly (readonly [Move, Move, Role])[] = [
  ['migrate', 'confirmResize', 'here'],
  ['migrate', 'confirmResize', 'there'],
  ['resize', 'revertResize', 'here'],
  ['resize', 'revertResize', 'there'],
];

/** The QEMU commands after which a host is killed during a live migration. The command determines the result. */
const MOMENTS: readonly (readonly [Role, string])[] = [
  ['here', 'migrate'],
  ['here', 'migrate-continue'],
  ['there', 'migrate-incoming'],
  ['there', 'nbd-server-stop'],
  ['there', 'cont'],
];

const other = (host: string) => (host === 'h1' ? 'h2' : 'h1');

describe.skipIf(missing).each([
  ['of their own', false],
  ['that they share', true],
] as const)('hosts with %s disks that are killed after steps of a move', { timeout: 600_000 }, (_title, shared) => {
  let hosts: QemuHosts;
  let id: string;
  const disks = () => join(hosts.directory, shared ? 'shared' : '');
  const start = (name: string) => {
    const options: HostOptions = { shutdownTimeoutMs: 400, ...(shared && { sharedDirectory: disks() }) };
    return hosts.start(name, options);
  };

  beforeAll(async () => {
    hosts = await QemuHosts.open(postgresUrl);
    await start('h1');
    await start('h2');
    const newServer = { name: 'idle', flavorId: 'tiny', imageId: NOTHING, networks: 'none', host: 'h1' } as const;
    id = (await hosts.engine.servers.create(admin, newServer)).servers[0]!.id;
    await hosts.settled(id);
  }, 240_000);

  afterAll(() => hosts?.close(), 60_000);

  /** Returns the temporary files that interrupted writes have left behind. */
  const incompleteFiles = () =>
    readdirSync(hosts.directory, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /\.(new|part|copy|link)(\.raw)?$/.test(name),
    );
  /** Returns the number of a server's processes on a host, and whether the server has a folder there. */
  const onHost = (name: string) => [processesOf(hosts.folder(name, id)).length, existsSync(hosts.folder(name, id))];

  /** Waits until a condition holds, and restarts hosts that have died. Returns whether a host has died. */
  async function becomes(look: (server: Server) => Promise<void> | void): Promise<boolean> {
    let died = false;
    await eventually(async () => {
      for (const name of ['h1', 'h2'])
        if (!hosts.lives(name)) {
          died = true;
          await start(name);
        }
      const server = await hosts.see(id);
      expect([server.jobId, server.taskState]).toEqual([null, null]);
      await look(server);
    }, BOOT);
    return died;
  }

  async function killDuring(
    name: string,
    when: number | string,
    act: () => Promise<unknown>,
    look: Parameters<typeof becomes>[0],
  ) {
    await hosts.killAfter(name, when);
    await act();
    const died = await becomes(look);
    await hosts.killAfter(name, Number.POSITIVE_INFINITY);
    const diedAfterwards = await becomes(look);
    expect(await hosts.miscounted()).toBeUndefined();
    return diedAfterwards || died;
  }

  /** Kills one of the hosts during an action. Returns whether it was killed. */
  async function move(action: Move, role: Role, steps: number): Promise<boolean> {
    const from = (await hosts.see(id)).host!;
    const { vmState, moved } = EXPECTED[action];
    const host = moved ? other(from) : from;
    const what = `${action}, ${role} killed after ${steps} steps`;
    const flavorId = action === 'resize' ? 'wide' : '';
    const done = (server: Server) => {
      expect({ what, ...server }).toMatchObject({ what, vmState, host, powerState: 1, fault: null });
      // The source keeps its files until the move is confirmed.
      const left = vmState === 'resized';
      expect([what, onHost(host), onHost(other(host))]).toEqual([what, [1, true], [0, left]]);
      expect([what, incompleteFiles()]).toEqual([what, []]);
    };
    const act = () => hosts.engine.servers.act(admin, id, action, { flavorId });
    return killDuring(role === 'here' ? from : other(from), steps, act, done);
  }

  it.each(shared && !EVERY_STEP ? ROUNDS.filter((_, index) => index % 3 === 0) : ROUNDS)(
    'leave the machine in the state that the API shows: %s and %s, the host %s',
    async (first, second, role) => {
      let deaths = 0;
      for (let [steps, killed] = [1, true]; killed; steps += STRIDE) {
        killed = false;
        for (const action of [first, second]) {
          if (!(await move(action, role, steps))) continue;
          killed = true;
          deaths++;
        }
      }
      expect(deaths).toBeGreaterThan(0);
    },
  );

  it.each(shared && !EVERY_STEP ? MOMENTS.slice(-1) : MOMENTS)(
    'leave the machine running on exactly one host: the host %s killed at %s',
    async (role, command) => {
      const from = (await hosts.see(id)).host!;
      const to = other(from);
      const started = async () => {
        await hosts.engine.servers.act(admin, id, 'os-migrateLive', { host: to, checkedFirst: true });
      };
      const died = await killDuring(role === 'here' ? from : to, command, started, async (server) => {
        const [last] = await hosts.engine.migrations.list({ serverId: id, newestFirst: true, limit: 1 });
        expect(server).toMatchObject({ vmState: 'active', powerState: 1 });
        expect(last?.status).toBe(server.host === to ? 'completed' : 'failed');
        expect([onHost(server.host!), onHost(other(server.host!))]).toEqual([
          [1, true],
          [0, false],
        ]);
        expect(await hosts.engine.servers.diagnostics(server)).toMatchObject({ state: 'running' });
      });
      expect(died).toBe(true);
    },
  );
});
