import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ImageContent } from '@apistrata/catalogs';
import { sampleServer } from './sample-server.js';
import { createSequences, type Sequence } from './sequences.js';
import { createDriverTest, type DriverFixture, type DriverSuite, type DriverTest } from './suite.js';

const spawn = { verb: 'spawn', adminPassword: 'secret', files: [{ path: '/etc/motd', contents: 'aGVsbG8=' }] } as const;

/** Tests every sequence, once as is and once with each command repeated, as happens after a crash of the engine. */
function testSequences(suite: DriverSuite, test: DriverTest): void {
  const titles = createSequences(sampleServer(suite.server), ['', '']).map(({ title }) => title);
  for (const [index, title] of titles.entries()) {
    for (const repetitions of [1, 2]) {
      test(repetitions === 1 ? title : `${title}, with each command repeated`, async (fixture) => {
        const server = await fixture.spawnServer();
        const { commands, at } = createSequences(server, fixture.hosts)[index] as Sequence;
        for (const [step, command] of commands.entries()) {
          const host = fixture.hosts[at?.[step] ?? 0];
          const serverOnHost = fixture.newServer({ ...server, host, node: host });
          for (let repetition = 0; repetition < repetitions; repetition++) await fixture.perform(command, serverOnHost);
        }
        const lastHost = fixture.hosts[at?.at(-1) ?? 0];
        await fixture.perform({ verb: 'destroy' }, fixture.newServer({ ...server, host: lastHost, node: lastHost }));
      });
    }
  }
}

async function countBytes(content: ImageContent): Promise<number> {
  if (content instanceof Uint8Array) return content.byteLength;
  let bytes = 0;
  for await (const chunk of content) bytes += chunk.byteLength;
  return bytes;
}

function testLifecycle(test: DriverTest): void {
  test('boots a machine idempotently', async (fixture) => {
    const server = fixture.newServer();
    await fixture.perform(spawn, server);
    await fixture.perform(spawn, server);
    await fixture.perform({ verb: 'power_off' }, server);
  });

  test('removes a machine idempotently, even if it never existed', async (fixture) => {
    const server = await fixture.spawnServer();
    await fixture.perform({ verb: 'destroy' }, server);
    await fixture.perform({ verb: 'destroy' }, server);
    await fixture.perform({ verb: 'destroy' }, fixture.newServer());
  });

  test('boots a machine again after it was removed', async (fixture) => {
    const server = await fixture.spawnServer();
    await fixture.perform({ verb: 'destroy' }, server);
    await fixture.perform(spawn, server);
    await fixture.perform({ verb: 'destroy' }, server);
  });

  test('keeps concurrent machines separate', async (fixture) => {
    const [first, others] = await Promise.all([
      fixture.spawnServer(),
      Promise.all(Array.from({ length: 9 }, () => fixture.spawnServer())),
    ]);
    await fixture.perform({ verb: 'destroy' }, first);
    await Promise.all(others.map((server) => fixture.perform({ verb: 'reboot', type: 'HARD' }, server)));
    await Promise.all(others.map((server) => fixture.perform({ verb: 'destroy' }, server)));
  });

  test('executes preparation steps without a machine', async (fixture) => {
    await fixture.perform({ verb: 'prepare', step: 'networking' }, fixture.newServer());
  });

  test('creates a snapshot and returns its content', async (fixture) => {
    const server = await fixture.spawnServer();
    const imageId = randomUUID();
    await fixture.perform({ verb: 'snapshot', imageId }, server);
    await fixture.perform({ verb: 'snapshot', imageId }, server);
    const content = await fixture.driver.snapshotContent?.(server, imageId);
    if (content !== undefined && fixture.supports('snapshot')) assert.ok((await countBytes(content)) >= 0);
  });
}

function testResponses(test: DriverTest): void {
  const origin = { action: 'create', requestId: 'req-1' };

  test('stops when the signal is aborted', async ({ driver, newServer }) => {
    const abortController = new AbortController();
    abortController.abort(new Error('no longer needed'));
    const [result] = await Promise.allSettled([driver.perform(spawn, newServer(), abortController.signal, origin)]);
    assert.ok(result.status === 'fulfilled' || result.reason instanceof Error);
  });

  test('reports which commands are synchronous or supported', async ({ driver, newServer }) => {
    const isSynchronous = driver.isSynchronous?.(spawn, newServer(), origin);
    assert.ok(isSynchronous === undefined || typeof isSynchronous === 'boolean');
    const supports = driver.supports?.('crash_dump');
    assert.ok(supports === undefined || typeof supports === 'boolean');
  });

  test('reports whether anything prevents setting a password', async ({ driver, spawnServer }) => {
    const obstacle = await driver.obstacle?.('set_password', await spawnServer());
    if (!obstacle) return;
    assert.ok(obstacle.code === 'CONFLICT' || obstacle.code === 'NOT_SUPPORTED');
    assert.ok(obstacle.message.length > 0);
  });

  test('returns console output', async ({ driver, spawnServer }: DriverFixture) => {
    assert.equal(typeof (await driver.consoleOutput(await spawnServer())), 'string');
  });

  test('returns diagnostics, or null', async ({ driver, spawnServer }: DriverFixture) => {
    const diagnostics = await driver.diagnostics(await spawnServer());
    if (diagnostics === null) return;
    assert.equal(typeof diagnostics.state, 'string');
    for (const list of [diagnostics.cpus, diagnostics.nics, diagnostics.disks]) assert.ok(Array.isArray(list));
    assert.ok(diagnostics.uptimeSeconds === null || diagnostics.uptimeSeconds >= 0);
  });

  test('returns the progress of a live migration, or null', async ({ driver, spawnServer }: DriverFixture) => {
    const progress = await driver.moveProgress?.(await spawnServer());
    if (!progress) return;
    const { memoryTotalBytes, memoryProcessedBytes, memoryRemainingBytes, ...disks } = progress;
    for (const bytes of [memoryTotalBytes, memoryProcessedBytes, memoryRemainingBytes, ...Object.values(disks)])
      assert.ok(Number.isSafeInteger(bytes) && bytes >= 0);
  });

  test('returns console endpoints, and null for unknown types', async ({ driver, spawnServer }) => {
    const server = await spawnServer();
    for (const type of ['novnc', 'xvpvnc', 'spice-html5', 'serial', 'webmks']) {
      const endpoint = await driver.console(server, type);
      if (endpoint) assert.ok(endpoint.host.length > 0 && Number.isInteger(endpoint.port));
    }
    assert.equal(await driver.console(server, 'no-such-console'), null);
  });
}

/** Registers the conformance tests of drivers with any test runner. */
export function testDriver(suite: DriverSuite): void {
  const test = createDriverTest(suite);
  suite.describe(suite.name, () => {
    testLifecycle(test);
    testSequences(suite, test);
    testResponses(test);
  });
}
