import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';
import { freshDatabase } from '../../../../testing/fresh-database.js';
import { type Program, runProgram, sendRequest, startProgram, workersOf } from '../program.js';

/** The timeout of tests that start several processes. Each takes seconds to start while other tests run. */
const TIMEOUT_MS = 100_000;
vi.setConfig({ testTimeout: 240_000 });

const postgresUrl = inject('postgresUrl');
const server = { name: 'web', flavorRef: '1', imageRef: '70a599e0-31e7-49b7-b260-868f441e862b', networks: 'none' };
const unlimited = ['instances', 'cores', 'ram'].flatMap((kind) => ['--quota', `${kind}=-1`]);
const folder = mkdtempSync(join(tmpdir(), 'apistrata-workers-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function start(workers: number, args: readonly string[] = []): Promise<Program> {
  const database = await freshDatabase(postgresUrl);
  const program = await startProgram(['--db', database, '--workers', String(workers), ...unlimited, ...args]);
  onTestFinished(async () => void (await program.end('SIGKILL')));
  await eventually(() => expect(workersOf(program)).toHaveLength(workers), { timeout: TIMEOUT_MS });
  return program;
}

/**
 * Clients that create servers continuously until they are stopped. They pause between requests, so that the number of
 * servers stays small while a slow machine starts processes.
 */
function createContinuously(program: Program, clients: number) {
  const acknowledged: string[] = [];
  const failed: unknown[] = [];
  let stopped = false;
  const one = async () => {
    while (!stopped) {
      try {
        const { status, body } = await sendRequest(program.url, 'POST', '/v2.1/servers', {
          version: '2.37',
          body: { server },
        });
        if (status === 202) acknowledged.push(body.server.id);
        else failed.push(body);
      } catch (error) {
        failed.push(error);
      }
      await setTimeout(50);
    }
  };
  const all = Promise.all(Array.from({ length: clients }, one));
  return {
    acknowledged,
    failed,
    stop: () => {
      stopped = true;
      return all;
    },
  };
}

/** Lists the flavors over one of the agent's connections. */
function listFlavors(agent: Agent, url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    get(`${url}/v2.1/flavors`, { agent, headers: { 'X-Auth-Token': 'ada:demo' } }, (response) => {
      response.once('error', reject).once('end', resolve).resume();
    }).once('error', reject);
  });
}

/** Returns the ids of all servers that are active and idle. */
async function idleServerIds(program: Program): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  let marker: string | undefined;
  do {
    const query = marker === undefined ? '' : `?marker=${marker}`;
    const { body } = await sendRequest(program.url, 'GET', `/v2.1/servers/detail${query}`);
    for (const one of body.servers)
      if (one.status === 'ACTIVE' && one['OS-EXT-STS:task_state'] === null) ids.add(one.id);
    marker = body.servers.at(-1)?.id;
  } while (marker !== undefined);
  return ids;
}

async function expectActive(program: Program, ids: readonly string[]): Promise<void> {
  await eventually(
    async () => {
      const idleIds = await idleServerIds(program);
      expect(ids.filter((id) => !idleIds.has(id))).toEqual([]);
    },
    { timeout: TIMEOUT_MS, interval: 500 },
  );
}

describe('workers', () => {
  it.each([
    [['--db', ':memory:'], 'needs --db postgres://...: only one process can use a SQLite database'],
    [['--db', join(folder, 'one.db')], 'needs --db postgres://...: only one process can use a SQLite database'],
    [['--db', 'postgres://nowhere/x', '--driver', 'qemu'], 'cannot be combined with --driver qemu'],
  ])('are rejected with %j', async (args, sentence) => {
    const { code, output } = await runProgram([...args, '--workers', '2', '--port', '0']);
    expect([code, output.trim().split('\n')]).toEqual([1, [expect.stringContaining(`--workers 2 ${sentence}`)]]);
    const checked = await runProgram([...args, '--workers', '2', '--check-config']);
    expect([checked.code, checked.output]).toEqual([1, expect.stringContaining(sentence)]);
  });
});

describe.skipIf(!postgresUrl)('several workers', () => {
  it('lose no acknowledged write when one of them is killed, and it is replaced', async () => {
    const program = await start(2);
    const load = createContinuously(program, 8);
    await eventually(() => expect(load.acknowledged.length).toBeGreaterThan(20), { timeout: TIMEOUT_MS });
    process.kill(workersOf(program)[0]!, 'SIGKILL');
    const acknowledgedAtKill = load.acknowledged.length;
    await eventually(() => expect(workersOf(program)).toHaveLength(3), { timeout: TIMEOUT_MS });
    await eventually(() => expect(load.acknowledged.length).toBeGreaterThan(acknowledgedAtKill + 20), {
      timeout: TIMEOUT_MS,
    });
    await load.stop();
    expect(program.output()).toMatch(/"signal":"SIGKILL".*a worker exited: starting another one/);
    // Requests on broken connections have an unknown outcome.
    for (const failure of load.failed) expect(failure).toBeInstanceOf(TypeError);
    await expectActive(program, load.acknowledged);
    expect(await program.end('SIGTERM')).toBe(0);
  });

  it('are all replaced on SIGHUP without a failed request, and read their configuration again', async () => {
    const policy = join(folder, 'policy.yaml');
    writeFileSync(policy, '');
    const program = await start(2, ['--policy-file', policy]);
    const load = createContinuously(program, 8);
    await eventually(() => expect(load.acknowledged.length).toBeGreaterThan(20), { timeout: TIMEOUT_MS });
    writeFileSync(policy, '"os_compute_api:os-keypairs:index": "!"');
    process.kill(program.pid, 'SIGHUP');
    // Running workers reload immediately, long before they are replaced.
    await eventually(() => expect(program.output().match(/were reloaded/g)).toHaveLength(2), { timeout: TIMEOUT_MS });
    await eventually(() => expect(program.output()).toContain('all workers have been replaced'), {
      timeout: TIMEOUT_MS,
    });
    await load.stop();
    expect(load.failed).toEqual([]);
    expect(new Set(workersOf(program)).size).toBe(4);
    expect(program.output()).not.toContain('a worker exited');
    expect((await sendRequest(program.url, 'GET', '/v2.1/os-keypairs')).status).toBe(403);
    expect(await program.end('SIGTERM')).toBe(0);
  });

  it('are replaced within a minute without resetting the connections that clients keep open', async () => {
    const program = await start(4);
    const agent = new Agent({ keepAlive: true, maxSockets: 16 });
    onTestFinished(() => agent.destroy());
    const failed: unknown[] = [];
    let served = 0;
    let stopped = false;
    const reads = async () => {
      for (; !stopped; served++) await listFlavors(agent, program.url).catch((error) => failed.push(error));
    };
    const reading = Array.from({ length: 16 }, reads);
    // These connections stay open and idle.
    const idle = Array.from({ length: 8 }, () => connect(Number(new URL(program.url).port), '127.0.0.1'));
    const resets: unknown[] = [];
    for (const socket of idle) socket.on('error', (error) => resets.push(error));
    await expect.poll(() => served, { timeout: TIMEOUT_MS }).toBeGreaterThan(50);
    process.kill(program.pid, 'SIGHUP');
    await expect.poll(() => program.output(), { timeout: 60_000 }).toContain('all workers have been replaced');
    stopped = true;
    await Promise.all(reading);
    expect([failed, resets]).toEqual([[], []]);
    expect(new Set(workersOf(program)).size).toBe(8);
    expect(await program.end('SIGTERM')).toBe(0);
  });

  it('are not replaced if no worker can start with the new configuration', async () => {
    const config = join(folder, 'config.yaml');
    writeFileSync(config, 'log-level: info\n');
    const program = await start(2, ['--config', config]);
    const before = workersOf(program);
    const sendSighup = async (text: string, expected: RegExp) => {
      writeFileSync(config, text);
      process.kill(program.pid, 'SIGHUP');
      await eventually(() => expect(program.output()).toMatch(expected), { timeout: TIMEOUT_MS });
    };
    await sendSighup('prot: 1\n', /prot.*was not applied/);
    await sendSighup(
      'preset: /does/not/exist.json\n',
      /a new worker could not start: the remaining workers are not replaced/,
    );
    expect(workersOf(program)).toEqual(before);
    expect((await sendRequest(program.url, 'GET', '/v2.1/flavors')).status).toBe(200);
    expect(await program.end('SIGTERM')).toBe(0);
  });

  it('serve one set of metrics on one port, whose sums do not fall when a worker dies', async () => {
    const program = await start(2, ['--metrics-port', '0', '--metrics']);
    const metricsUrl = (await program.printed(/Metrics +(http:\S+)/))[1]!;
    const sample = async (name: string, url = metricsUrl) => {
      const found = (await (await fetch(url)).text()).split('\n').find((line) => line.startsWith(`${name} `));
      return found && Number(found.slice(name.length));
    };
    const flavors = 'apistrata_requests_total{operation="GET /flavors",version="2.1",status="200"}';
    // Each request uses a new connection, so that both workers receive requests.
    const read = (count: number) =>
      Promise.all(
        Array.from({ length: count }, () =>
          fetch(`${program.url}/v2.1/flavors`, { headers: { 'X-Auth-Token': 'ada:demo', Connection: 'close' } }),
        ),
      );
    await read(20);
    await sendRequest(program.url, 'POST', '/v2.1/servers', { version: '2.37', body: { server } });
    await expect.poll(() => sample(flavors)).toBe(20);
    expect(await sample(flavors, `${program.url}/metrics`)).toBe(20);
    await eventually(async () => expect(await sample('apistrata_servers{state="active"}')).toBe(1), {
      timeout: TIMEOUT_MS,
    });
    expect(await sample('apistrata_database_connections_max')).toBe(20);
    process.kill(workersOf(program)[0]!, 'SIGKILL');
    await eventually(() => expect(workersOf(program)).toHaveLength(3), { timeout: TIMEOUT_MS });
    await read(5);
    await expect.poll(() => sample(flavors)).toBe(25);
    expect(await program.end('SIGTERM')).toBe(0);
  });

  it('fail readiness together on SIGTERM while they still serve, and exit immediately on a second SIGTERM', async () => {
    const program = await start(2, ['--drain-ms', '3600000']);
    const ready = async () => (await fetch(`${program.url}/readyz`, { headers: { Connection: 'close' } })).status;
    expect(await ready()).toBe(200);
    const code = program.end('SIGTERM');
    await eventually(async () =>
      expect(await Promise.all([ready(), ready(), ready(), ready()])).toEqual([503, 503, 503, 503]),
    );
    expect((await sendRequest(program.url, 'GET', '/v2.1/flavors')).status).toBe(200);
    expect(await program.end('SIGTERM')).toBe(143);
    expect(await code).toBe(143);
  });

  it('are not started if the first one fails', async () => {
    const { code, output } = await runProgram([
      ...['--db', 'postgres://test@127.0.0.1:1/none', '--workers', '3', '--port', '0'],
    ]);
    expect(code).toBe(1);
    expect(output.trim().split('\n')).toEqual([
      expect.stringContaining('--db postgres://test@127.0.0.1:1/none cannot'),
    ]);
  });
});
