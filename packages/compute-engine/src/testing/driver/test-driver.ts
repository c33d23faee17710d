import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ImageContent } from '@apistrata/catalogs';
import { sampleServer } from './sample-server.js';
import { sequencesFor } from './sequences.js';
import { type DriverBench, type DriverSuite, type DriverTest, onFreshDriver } from './suite.js';

const spawn = { verb: 'spawn', adminPassword: 'secret', files: [{ path: '/etc/motd', contents: 'aGVsbG8=' }] } as const;

/** Every sequence of work, and each piece of it twice: a crash of the engine repeats what it was in the middle of. */
function testSequences(suite: DriverSuite, test: DriverTest): void {
  const titles = sequencesFor(sampleServer(suite.server), ['', '']).map(({ title }) => title);
  for (const [index, title] of titles.entries()) {
    for (const times of [1, 2]) {
      test(times === 1 ? title : `${title}, each step repeated`, async (bench) => {
        const server = await bench.spawned();
        const { works, at } = sequencesFor(server, bench.hosts)[index]!;
        for (const [step, work] of works.entries()) {
          const host = bench.hosts[at?.[step] ?? 0];
          const there = bench.newServer({ ...server, host, node: host });
          for (let time = 0; time < times; time++) await bench.perform(work, there);
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

function testLife(test: DriverTest): void {
  test('boots a machine, and once more without harm', async (bench) => {
    const server = bench.newServer();
    await bench.perform(spawn, server);
    await bench.perform(spawn, server);
    await bench.perform({ verb: 'power_off' }, server);
  });

  test('removes a machine, once more, and one that never was', async (bench) => {
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

  test('keeps machines apart, however many there are at once', async (bench) => {
    const [first, others] = await Promise.all([
      bench.spawned(),
      Promise.all(Array.from({ length: 9 }, () => bench.spawned())),
    ]);
    await bench.perform({ verb: 'destroy' }, first);
    await Promise.all(others.map((server) => bench.perform({ verb: 'reboot', type: 'HARD' }, server)));
    await Promise.all(others.map((server) => bench.perform({ verb: 'destroy' }, server)));
  });

  test('passes through steps that need nothing of the machine', async (bench) => {
    await bench.perform({ verb: 'prepare', step: 'networking' }, bench.newServer());
  });

  test('copies disks, and hands the copy out', async (bench) => {
    const server = await bench.spawned();
    const imageId = randomUUID();
    await bench.perform({ verb: 'snapshot', imageId }, server);
    await bench.perform({ verb: 'snapshot', imageId }, server);
    const content = await bench.driver.snapshotContent?.(server, imageId);
    if (content !== undefined && bench.supports('snapshot')) assert.ok((await bytesOf(content)) >= 0);
  });
}

function testAnswers(test: DriverTest): void {
  const origin = { action: 'create', requestId: 'req-1' };

  test('comes to an end when nobody waits for it any more', async ({ driver, newServer }) => {
    const ended = new AbortController();
    ended.abort(new Error('nobody waits'));
    const [result] = await Promise.allSettled([driver.perform(spawn, newServer(), ended.signal, origin)]);
    assert.ok(result.status === 'fulfilled' || result.reason instanceof Error);
  });

  test('says whether work is done at once, and what it supports, without doing it', async ({ driver, newServer }) => {
    const instantly = driver.instantly?.(spawn, newServer(), origin);
    assert.ok(instantly === undefined || typeof instantly === 'boolean');
    const nothing = driver.nothingToDo?.(spawn, newServer(), origin);
    assert.ok(nothing === undefined || typeof nothing === 'boolean');
    const supports = driver.supports?.('crash_dump');
    assert.ok(supports === undefined || typeof supports === 'boolean');
  });

  test('says what is in the way of a password, or that nothing is', async ({ driver, spawned }) => {
    const obstacle = await driver.obstacle?.('set_password', await spawned());
    if (!obstacle) return;
    assert.ok(obstacle.code === 'CONFLICT' || obstacle.code === 'NOT_SUPPORTED');
    assert.ok(obstacle.message.length > 0);
  });

  test('tells what consoles have printed', async ({ driver, spawned }: DriverBench) => {
    assert.equal(typeof (await driver.consoleOutput(await spawned())), 'string');
  });

  test('tells how a machine is, or that it cannot', async ({ driver, spawned }: DriverBench) => {
    const told = await driver.diagnostics(await spawned());
    if (told === null) return;
    assert.equal(typeof told.state, 'string');
    for (const list of [told.cpus, told.nics, told.disks]) assert.ok(Array.isArray(list));
    assert.ok(told.uptimeSeconds === null || told.uptimeSeconds >= 0);
  });

  test('tells how far a move is, or that nobody can tell', async ({ driver, spawned }: DriverBench) => {
    const told = await driver.moveProgress?.(await spawned());
    if (!told) return;
    const { memoryTotalBytes, memoryProcessedBytes, memoryRemainingBytes, ...disks } = told;
    for (const bytes of [memoryTotalBytes, memoryProcessedBytes, memoryRemainingBytes, ...Object.values(disks)])
      assert.ok(Number.isSafeInteger(bytes) && bytes >= 0);
  });

  test('names consoles that can be reached, and none of a type it does not know', async ({ driver, spawned }) => {
    const server = await spawned();
    for (const type of ['novnc', 'xvpvnc', 'spice-html5', 'serial', 'webmks']) {
      const endpoint = await driver.console(server, type);
      if (endpoint) assert.ok(endpoint.host.length > 0 && Number.isInteger(endpoint.port));
    }
    assert.equal(await driver.console(server, 'no-such-console'), null);
  });
}

/** Registers tests that every driver must pass, with the test runner of your choice. */
export function testDriver(suite: DriverSuite): void {
  const test = onFreshDriver(suite);
  suite.describe(suite.name, () => {
    testLife(test);
    testSequences(suite, test);
    testAnswers(test);
  });
}
