import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ImageContent } from '@apistrata/catalogs';
import { sampleServer } from './sample-server.js';
import { type Sequence, sequencesFor } from './sequences.js';
import { type DriverBench, type DriverSuite, type DriverTest, onFreshDriver } from './suite.js';

const spawn = { verb: 'spawn', adminPassword: 'secret', files: [{ path: '/etc/motd', contents: 'aGVsbG8=' }] } as const;

/** Tests every sequence, once as is and once with each command repeated, as after a crash of the engine. */
function testSequences(suite: DriverSuite, test: DriverTest): void {
  const titles = sequencesFor(sampleServer(suite.server), ['', '']).map(({ title }) => title);
  for (const [index, title] of titles.entries()) {
    for (const times of [1, 2]) {
      test(times === 1 ? title : `${title}, each step repeated`, async (bench) => {
        const server = await bench.spawned();
        const { works, at } = sequencesFor(server, bench.hosts)[index] as Sequence;
        for (const [step, work] of works.entries()) {
          const host = bench.hosts[at?.[step] ?? 0];
          const onOtherHost = bench.newServer({ ...server, host, node: host });
          for (let time = 0; time < times; time++) await bench.perform(work, onOtherHost);
        }
        const last = bench.hosts[at?.at(-1) ?? 0];
        await bench.perform({ verb: 'destroy' }, bench.newServer({ ...server, host: last, node: last }));
      });
    }
  }
}

async function bytesOf(content: ImageContent): Promise<number> {
  if (content instanceof Uint8Array) return content.byteLength;
  let bytes = 0;
  for await (const chunk of content) bytes += chunk.byteLength;
  return bytes;
}

function testLifecycle(test: DriverTest): void {
  test('boots a machine, idempotently', async (bench) => {
    const server = bench.newServer();
    await bench.perform(spawn, server);
    await bench.perform(spawn, server);
    await bench.perform({ verb: 'power_off' }, server);
  });

  test('removes a machine, idempotently, and one that never existed', async (bench) => {
    const server = await bench.spawned();
    await bench.perform({ verb: 'destroy' }, server);
    await bench.perform({ verb: 'destroy' }, server);
    await bench.perform({ verb: 'destroy' }, bench.newServer());
  });

  test('boots a machine again after it was removed', async (bench) => {
    const server = await bench.spawned();
    await bench.perform({ verb: 'destroy' }, server);
    await bench.perform(spawn, server);
    await bench.perform({ verb: 'destroy' }, server);
  });

  test('keeps concurrent machines separate', async (bench) => {
    const [first, others] = await Promise.all([
      bench.spawned(),
      Promise.all(Array.from({ length: 9 }, () => bench.spawned())),
    ]);
    await bench.perform({ verb: 'destroy' }, first);
    await Promise.all(others.map((server) => bench.perform({ verb: 'reboot', type: 'HARD' }, server)));
    await Promise.all(others.map((server) => bench.perform({ verb: 'destroy' }, server)));
  });

  test('executes steps that do not touch the machine', async (bench) => {
    await bench.perform({ verb: 'prepare', step: 'networking' }, bench.newServer());
  });

  test('copies disks and returns the copy', async (bench) => {
    const server = await bench.spawned();
    const imageId = randomUUID();
    await bench.perform({ verb: 'snapshot', imageId }, server);
    await bench.perform({ verb: 'snapshot', imageId }, server);
    const content = await bench.driver.snapshotContent?.(server, imageId);
    if (content !== undefined && bench.supports('snapshot')) assert.ok((await bytesOf(content)) >= 0);
  });
}

function testResponses(test: DriverTest): void {
  const origin = { action: 'create', requestId: 'req-1' };

  test('stops when the signal is aborted', async ({ driver, newServer }) => {
    const ended = new AbortController();
    ended.abort(new Error('no longer needed'));
    const [result] = await Promise.allSettled([driver.perform(spawn, newServer(), ended.signal, origin)]);
    assert.ok(result.status === 'fulfilled' || result.reason instanceof Error);
  });

  test('reports instant and supported commands without executing them', async ({ driver, newServer }) => {
    const instantly = driver.isSynchronous?.(spawn, newServer(), origin);
    assert.ok(instantly === undefined || typeof instantly === 'boolean');
    const supports = driver.supports?.('crash_dump');
    assert.ok(supports === undefined || typeof supports === 'boolean');
  });

  test('reports whether anything prevents setting a password', async ({ driver, spawned }) => {
    const obstacle = await driver.obstacle?.('set_password', await spawned());
    if (!obstacle) return;
    assert.ok(obstacle.code === 'CONFLICT' || obstacle.code === 'NOT_SUPPORTED');
    assert.ok(obstacle.message.length > 0);
  });

  test('returns the output of consoles', async ({ driver, spawned }: DriverBench) => {
    assert.equal(typeof (await driver.consoleOutput(await spawned())), 'string');
  });

  test('returns diagnostics, or null', async ({ driver, spawned }: DriverBench) => {
    const notified = await driver.diagnostics(await spawned());
    if (notified === null) return;
    assert.equal(typeof notified.state, 'string');
    for (const list of [notified.cpus, notified.nics, notified.disks]) assert.ok(Array.isArray(list));
    assert.ok(notified.uptimeSeconds === null || notified.uptimeSeconds >= 0);
  });

  test('returns the progress of a move, or null', async ({ driver, spawned }: DriverBench) => {
    const reported = await driver.moveProgress?.(await spawned());
    if (!reported) return;
    const { memoryTotalBytes, memoryProcessedBytes, memoryRemainingBytes, ...disks } = reported;
    for (const bytes of [memoryTotalBytes, memoryProcessedBytes, memoryRemainingBytes, ...Object.values(disks)])
      assert.ok(Number.isSafeInteger(bytes) && bytes >= 0);
  });

  test('returns endpoints of consoles, and null for unknown types', async ({ driver, spawned }) => {
    const server = await spawned();
    for (const type of ['novnc', 'xvpvnc', 'spice-html5', 'serial', 'webmks']) {
      const endpoint = await driver.console(server, type);
      if (endpoint) assert.ok(endpoint.host.length > 0 && Number.isInteger(endpoint.port));
    }
    assert.equal(await driver.console(server, 'no-such-console'), null);
  });
}

/** Registers the conformance tests of drivers with any test runner. */
export function testDriver(suite: DriverSuite): void {
  const test = onFreshDriver(suite);
  suite.describe(suite.name, () => {
    testLifecycle(test);
    testSequences(suite, test);
    testResponses(test);
  });
}
